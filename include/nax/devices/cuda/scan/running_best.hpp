#pragma once

#include "nax/devices/cuda/scan/scan_kernels.hpp"

// Places of running maxima and minima: a scan of elements with their places.
NAX_BEGIN
namespace cuda {

template <class A, bool greatest>
struct RunningBest {
  struct State {
    A value;
    std::int64_t at;  // of no line: -1
  };
  // Of equal ones the first stays, and a NaN.
  static constexpr State join(const State& a, const State& b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    const bool better =
        (greatest ? b.value > a.value : b.value < a.value) || (b.value != b.value && a.value == a.value);
    return better ? b : a;
  }
  static constexpr State none() { return {A(0), -1}; }
};

template <class A, bool greatest>
struct RunningPlaces {
  using Rule = RunningBest<A, greatest>;
  using State = typename Rule::State;
  LineOrder order;
  DType stored;
  const char* from;
  std::int64_t* to;
  std::int64_t bytes;

  constexpr bool in_row() const { return order.inner == 1; }
  constexpr State read(std::int64_t line, std::int64_t i) const {
    return {load_as<A>(stored, from + order.at(line, i) * bytes), order.reverse ? order.n - 1 - i : i};
  }
  constexpr void write(std::int64_t line, std::int64_t i, const State& x) const {
    to[order.at(line, i)] = x.at;
  }
};

inline void launch_running_best(Device device, bool greatest, const loops::Lines& lines, bool reverse,
                                DType dtype, const char* from, std::int64_t* to) {
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  with_wide(dtype, [&]<class A>(std::type_identity<A>) {
    const auto run = [&]<bool g>(std::bool_constant<g>) {
      launch_scan_of(device, RunningPlaces<A, g>{order_of(lines, reverse), dtype, from, to, bytes},
                     lines.count(), lines.n);
    };
    if (greatest)
      run(std::true_type());
    else
      run(std::false_type());
  });
}

}  // namespace cuda
NAX_END
