#pragma once

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/scan/line_order.hpp"

// Linear recurrences along lines.
NAX_BEGIN
namespace cuda {

// r[i] = a[i] r[i - 1] + b[i], one thread a line: in chunks, products of the factors could overflow where the
// recurrence does not.
template <class A>
struct LinearScan {
  LineOrder order;
  DType dtype;
  const char *factor, *term;
  char* to;
  std::int64_t bytes;

  constexpr void operator()(std::int64_t line) const {
    A r = A(0);
    for (std::int64_t i = 0; i < order.n; ++i) {
      const std::int64_t at = order.at(line, i) * bytes;
      const A b = load_as<A>(dtype, term + at);
      r = i == 0 ? b : load_as<A>(dtype, factor + at) * r + b;
      store_as<A>(dtype, to + at, r);
      r = load_as<A>(dtype, to + at);  // rounded to the type of the result, as the next step reads it
    }
  }
};

inline void launch_linear_scan(Device device, const loops::Lines& lines, bool reverse, DType dtype,
                               const char* factor, const char* term, char* to) {
  with_factors(dtype, [&]<class A>(std::type_identity<A>) {
    if (lines.n > 0)
      launch(device, lines.count(),
             LinearScan<A>{order_of(lines, reverse), dtype, factor, term, to,
                           static_cast<std::int64_t>(dtype_size(dtype))});
  });
}

}  // namespace cuda
NAX_END
