#pragma once

#include <cmath>

#include "nax/random/bits.hpp"
#include "nax/rules/unit_interval.hpp"

NAX_BEGIN
namespace random {
namespace detail {

// Numbers in [low, high). JAX's compiler fuses the product and the sum, so that this does; where the length
// of the interval is a power of two the product is exact, and the fused operation (slow on old machines) is
// not needed.
template <class T>
struct FillUniform {
  compute_t<T> low = 0, high = 1;

  Draw device_form() const { return {.kind = DrawKind::uniform, .low = low, .high = high}; }

  template <class Out>
  void operator()(std::uint64_t key, std::uint64_t first, std::int64_t n, Out* out) const {
    using C = compute_t<T>;
    const C least = low, span = static_cast<C>(T(high - low));
    int exponent;
    const bool exact = std::is_same_v<T, Out> && std::abs(std::frexp(span, &exponent)) == C(0.5);
    cpu::for_each_block(key, first, n,
                        [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                          if (exact) {
                            for (int i = 0; i < count; ++i) {
                              const C u = C(unit<T>(x[i], y[i])) * span + least;
                              out[at + i] = static_cast<Out>(u < least ? least : u);
                            }
                          } else {
                            for (int i = 0; i < count; ++i) {
                              const C u = std::fma(C(unit<T>(x[i], y[i])), span, least);
                              out[at + i] = static_cast<Out>(T(u < least ? least : u));
                            }
                          }
                        });
  }
};

}  // namespace detail

struct UniformOptions {
  double minval = 0, maxval = 1;
};
// Uniform in [minval, maxval).
template <class T = float>
requires is_floating_v<T> Array<T> uniform(const Key& key, const Shape& shape = {},
                                           const UniformOptions& options = {}) {
  using C = detail::compute_t<T>;
  return detail::draw<T>("uniform", key, shape,
                         detail::FillUniform<T>{C(T(options.minval)), C(T(options.maxval))});
}
// Takes the bounds as JAX does, by place.
template <class T = float>
requires is_floating_v<T> Array<T> uniform(const Key& key, const Shape& shape, double minval, double maxval) {
  return uniform<T>(key, shape, UniformOptions{.minval = minval, .maxval = maxval});
}
}  // namespace random
NAX_END
