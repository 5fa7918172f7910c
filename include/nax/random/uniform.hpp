#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "nax/random/bits.hpp"

namespace nax::random {
namespace detail {

// How bits become a number in [0, 1): they fill the mantissa of one in [1, 2), from which 1 is taken.
template <class T>
struct Mantissa;
template <>
struct Mantissa<float> {
  using Bits = std::uint32_t;
  static constexpr Bits one = 0x3f80'0000u;
  static constexpr int unused = 9;
};
template <>
struct Mantissa<double> {
  using Bits = std::uint64_t;
  static constexpr Bits one = 0x3ff0'0000'0000'0000u;
  static constexpr int unused = 12;
};
template <>
struct Mantissa<half> {
  using Bits = std::uint16_t;
  static constexpr Bits one = 0x3c00;
  static constexpr int unused = 6;
};
template <>
struct Mantissa<bfloat16> {
  using Bits = std::uint8_t;
  static constexpr std::uint16_t one = 0x3f80;
  static constexpr int unused = 1;
};

template <class T>
T unit(std::uint32_t x, std::uint32_t y) {
  using M = Mantissa<T>;
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(cpu::word_pair({x, y}) >> M::unused | M::one) - 1;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>((x ^ y) >> M::unused | M::one) - 1;
  else
    return T(float(T::from_bits(
                 static_cast<std::uint16_t>(static_cast<typename M::Bits>(x ^ y) >> M::unused | M::one))) -
             1);
}

// Half types compute in float.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Numbers in [low, high). JAX's compiler fuses the product and the sum, so that this does; where the length
// of the interval is a power of two the product is exact, and the fused operation (slow on old machines) is
// not needed.
template <class T>
struct FillUniform {
  compute_t<T> low = 0, high = 1;

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
}  // namespace nax::random
