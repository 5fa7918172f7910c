#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nax/core/abi.hpp"

// half (IEEE binary16) and bfloat16: 16 bits of storage, arithmetic in float, rounded to nearest even.
//
// Both convert to float without a cast, so mixed arithmetic (half * float), comparisons and <cmath> work
// through the built-in operators; only half op half is ours, and gives a half again. Its operators are
// templates on purpose: they must not compete, through conversions, with the built-in ones for half op float.
NAX_BEGIN
namespace detail {

// double -> float, rounded to odd: a second rounding to 16 bits is then right (no double rounding).
constexpr float round_to_odd(double x) {
  float f = static_cast<float>(x);
  if (static_cast<double>(f) == x || x != x) return f;
  auto bits = std::bit_cast<std::uint32_t>(f);
  const bool away_from_zero = x < 0 ? static_cast<double>(f) < x : static_cast<double>(f) > x;
  if (away_from_zero) --bits;
  return std::bit_cast<float>(bits | 1u);
}

constexpr std::uint16_t float_to_half_bits(float x) {
  auto f = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = f & 0x8000'0000u;
  f ^= sign;
  std::uint32_t out = 0;
  if (f >= 0x4780'0000u) {  // 65536 and more: infinity, or a quiet NaN that keeps the payload's upper bits
    out = f > 0x7f80'0000u ? 0x7e00u | ((f >> 13) & 0x1ffu) : 0x7c00u;
  } else if (f < 0x3880'0000u) {  // subnormal or zero: the float adder does the shift and the rounding
    constexpr std::uint32_t magic = 126u << 23;
    out = std::bit_cast<std::uint32_t>(std::bit_cast<float>(f) + std::bit_cast<float>(magic)) - magic;
  } else {
    out = (f + 0xc800'0fffu + ((f >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(out | (sign >> 16));
}

constexpr float half_bits_to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) * 0x1'0000u;
  std::uint32_t f = (h & 0x7fffu) * 0x2000u;
  const std::uint32_t exponent = f & 0x0f80'0000u;
  f += 112u << 23;
  if (exponent == 0x0f80'0000u) {  // infinity, NaN
    f += 112u << 23;
  } else if (exponent == 0) {  // zero, subnormal: renormalise in the float adder
    f = std::bit_cast<std::uint32_t>(std::bit_cast<float>(f + (1u << 23)) - std::bit_cast<float>(113u << 23));
  }
  return std::bit_cast<float>(f | sign);
}

constexpr std::uint16_t float_to_bfloat16_bits(float x) {
  const auto f = std::bit_cast<std::uint32_t>(x);
  if ((f & 0x7fff'ffffu) > 0x7f80'0000u) return static_cast<std::uint16_t>((f >> 16) | 0x40u);
  return static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}

constexpr float bfloat16_bits_to_float(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

template <class A, class Self>
concept SameFloat16 = std::is_same_v<A, Self>;

// Shared by half and bfloat16.
template <class Self, std::uint16_t (*to_bits)(float), float (*to_float)(std::uint16_t)>
struct Float16Base {
  std::uint16_t bits;

  constexpr operator float() const { return to_float(bits); }

  static constexpr Self from_bits(std::uint16_t b) {
    Self s{};
    s.bits = b;
    return s;
  }

  template <SameFloat16<Self> A>
  friend constexpr Self operator+(A a, A b) {
    return Self(float(a) + float(b));
  }
  template <SameFloat16<Self> A>
  friend constexpr Self operator-(A a, A b) {
    return Self(float(a) - float(b));
  }
  template <SameFloat16<Self> A>
  friend constexpr Self operator*(A a, A b) {
    return Self(float(a) * float(b));
  }
  template <SameFloat16<Self> A>
  friend constexpr Self operator/(A a, A b) {
    return Self(float(a) / float(b));
  }
  template <SameFloat16<Self> A>
  friend constexpr Self operator-(A a) {
    return from_bits(static_cast<std::uint16_t>(a.bits ^ 0x8000u));
  }
  template <SameFloat16<Self> A>
  friend constexpr Self operator+(A a) {
    return a;
  }

  constexpr Self& operator+=(float b) { return assign(float(*this) + b); }
  constexpr Self& operator-=(float b) { return assign(float(*this) - b); }
  constexpr Self& operator*=(float b) { return assign(float(*this) * b); }
  constexpr Self& operator/=(float b) { return assign(float(*this) / b); }

 protected:
  static constexpr std::uint16_t bits_of(float x) { return to_bits(x); }
  static constexpr std::uint16_t bits_of(double x) { return to_bits(round_to_odd(x)); }

 private:
  constexpr Self& assign(float x) {
    bits = to_bits(x);
    return static_cast<Self&>(*this);
  }
};

template <class A>
using wide_float_t = std::conditional_t<std::is_same_v<A, float>, float, double>;

}  // namespace detail

struct bfloat16;

struct half : detail::Float16Base<half, detail::float_to_half_bits, detail::half_bits_to_float> {
  half() = default;
  template <class A>
  requires std::is_arithmetic_v<A>
  constexpr half(A x) : Float16Base{bits_of(static_cast<detail::wide_float_t<A>>(x))} {}
  constexpr explicit half(bfloat16 x);
};

struct bfloat16
    : detail::Float16Base<bfloat16, detail::float_to_bfloat16_bits, detail::bfloat16_bits_to_float> {
  bfloat16() = default;
  template <class A>
  requires std::is_arithmetic_v<A>
  constexpr bfloat16(A x) : Float16Base{bits_of(static_cast<detail::wide_float_t<A>>(x))} {}
  constexpr explicit bfloat16(half x) : bfloat16(float(x)) {}
};

constexpr half::half(bfloat16 x) : half(float(x)) {}

static_assert(std::is_trivially_copyable_v<half> && sizeof(half) == 2);
static_assert(std::is_trivially_copyable_v<bfloat16> && sizeof(bfloat16) == 2);

namespace detail {

template <class F, std::uint16_t min_bits, std::uint16_t max_bits, std::uint16_t epsilon_bits>
struct Float16Limits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false;
  static constexpr bool traps = false, tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
  static constexpr F min() noexcept { return F::from_bits(min_bits); }
  static constexpr F max() noexcept { return F::from_bits(max_bits); }
  static constexpr F lowest() noexcept { return F::from_bits(max_bits | 0x8000u); }
  static constexpr F epsilon() noexcept { return F::from_bits(epsilon_bits); }
  static constexpr F round_error() noexcept { return F(0.5f); }
  static constexpr F infinity() noexcept { return F::from_bits(max_bits + 1); }
  static constexpr F quiet_NaN() noexcept { return F(std::numeric_limits<float>::quiet_NaN()); }
  static constexpr F signaling_NaN() noexcept { return F::from_bits(max_bits + 2); }
  static constexpr F denorm_min() noexcept { return F::from_bits(1); }
};

}  // namespace detail
NAX_END

template <>
struct std::numeric_limits<nax::half> : nax::detail::Float16Limits<nax::half, 0x0400, 0x7bff, 0x1400> {
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
};

template <>
struct std::numeric_limits<nax::bfloat16>
    : nax::detail::Float16Limits<nax::bfloat16, 0x0080, 0x7f7f, 0x3c00> {
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr int min_exponent = -125, min_exponent10 = -37, max_exponent = 128, max_exponent10 = 38;
};
