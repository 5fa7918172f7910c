#pragma once

#include <nax/nax.hpp>

#include "../support/data.hpp"
#include "../support/row.hpp"

namespace bench {

using nax::Array;

inline Array<float> uniform_array(std::uint32_t seed, const nax::Shape& shape, float low = -1,
                                  float high = 1) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return nax::asarray(std::span<const float>(uniform(seed, n, low, high)), shape);
}

// The leaves of a result, one after the other.
template <class Tree>
std::vector<float> leaves_of(const Tree& tree) {
  std::vector<float> all;
  nax::tree::for_each(
      [&](const auto& leaf) {
        for (const auto value : leaf.to_vector()) all.push_back(static_cast<float>(value));
      },
      tree);
  return all;
}

// A row that computes f() from inputs it has captured.
template <class F>
Work calls(F f) {
  return work([f] { [[maybe_unused]] const auto result = nax::tree::materialise(f()); },
              [f] { return leaves_of(nax::tree::materialise(f())); });
}

// A row that computes f(x...) and the gradients for the cotangent g.
template <class F, class... X>
Work values_and_gradients(F f, const Array<float>& g, const X&... x) {
  return calls([=] {
    const auto [value, pullback] = nax::vjp(f, x...);
    return std::pair{value, pullback(g)};
  });
}

Rows matmul_rows();
Rows step_rows();
Rows pmap_rows();
Rows elementwise_rows();
Rows reduction_rows();
Rows layout_rows();
Rows random_rows();
Rows transform_rows();
Rows network_rows();
Rows small_rows();
Rows second_order_rows();
Rows dispatch_rows();

}  // namespace bench
