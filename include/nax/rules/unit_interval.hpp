#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "nax/core/half.hpp"

NAX_BEGIN
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
constexpr T unit(std::uint32_t x, std::uint32_t y) {
  using M = Mantissa<T>;
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>((std::uint64_t{x} << 32 | y) >> M::unused | M::one) - 1;
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

// The number of type T next below a finite one.
template <class T>
constexpr T next_below(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
  const Bits bits = std::bit_cast<Bits>(x);
  if ((bits & static_cast<Bits>(~sign)) == 0) return std::bit_cast<T>(static_cast<Bits>(sign | 1));
  return std::bit_cast<T>(static_cast<Bits>((bits & sign) != 0 ? bits + 1 : bits - 1));
}

// Takes numbers of [0, 1) to [low, high), as JAX does, but never to `high`, and not to infinity where the
// length of the interval is no number of the type.
template <class T>
struct UniformInterval {
  using C = compute_t<T>;
  C low, span, most;
  bool halved;  // span is half of the length
  constexpr UniformInterval(C from, C to)
      : low(from),
        span(C(T(to - from))),
        most(from < to ? C(next_below(T(to))) : C(INFINITY)),
        halved(false) {
    if (span - span == 0 || from - from != 0 || to - to != 0) return;
    span = to / 2 - from / 2;
    halved = true;
  }
  constexpr C operator()(C u) const {
    const C x = halved ? std::fma(u, span, low / 2) * 2 : std::fma(u, span, low);
    const C y = C(T(x));
    return y < low ? low : y > most ? most : y;
  }
};

}  // namespace detail
NAX_END
