#pragma once

#include <bit>
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

}  // namespace detail
NAX_END
