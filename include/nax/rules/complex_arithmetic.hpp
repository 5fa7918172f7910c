#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nax/core/abi.hpp"

// Products, quotients and moduli of complex numbers in forms without branches, which compilers vectorise.
// The operators of std::complex branch on infinities, so that compilers do not vectorise them. C is a complex
// type, std::complex<R> or numbers::Complex<R>.
NAX_BEGIN
namespace rules::math {

// As NumPy and JAX have it: an infinity times a number may have a part that is NaN.
template <class C>
constexpr C product(C x, C y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// Smith's formula (Algorithm 116, 1962), as NumPy has it: no intermediate result overflows where the quotient
// does not. Both parts over zero are those of x over |0|.
template <class C>
constexpr C quotient(C x, C y) {
  using R = typename C::value_type;
  const R a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const bool by_real = std::abs(c) >= std::abs(d);
  const R p = by_real ? c : d, q = by_real ? d : c;
  const bool zero = p == R(0) && q == R(0);
  const R ratio = zero ? R(0) : q / p, scale = R(1) / (zero ? std::abs(p) : p + q * ratio);
  const R re = by_real ? a + b * ratio : a * ratio + b, im = by_real ? b - a * ratio : b * ratio - a;
  return {(zero ? a : re) * scale, (zero ? b : im) * scale};
}

// The square root of zero or of a number near 1, within an ULP, by Newton's method: std::sqrt sets errno, and
// so keeps compilers from vectorising.
template <class R>
constexpr R root(R x) {
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits start = sizeof(R) == 4 ? Bits(0x5f3759df) : static_cast<Bits>(0x5fe6eb50c7b537a9);
  R y = std::bit_cast<R>(static_cast<Bits>(start - (std::bit_cast<Bits>(x) >> 1)));  // 1 / sqrt(x)
  for (int i = 0; i < (sizeof(R) == 4 ? 3 : 4); ++i) y = y * (R(1.5) - R(0.5) * x * y * y);
  const R nearby = x * y;
  return nearby + R(0.5) * y * (x - nearby * nearby);
}

// |x| within an ULP, without overflow: that of x scaled by a power of two. An infinite part gives infinity.
template <class C>
constexpr auto modulus(C x) {
  using R = typename C::value_type;
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = std::numeric_limits<R>::digits - 1;
  constexpr Bits one = Bits(1) << mantissa, last = std::bit_cast<Bits>(std::numeric_limits<R>::infinity());
  const R a = std::abs(x.real()), b = std::abs(x.imag()), larger = a > b ? a : b;
  const Bits exponent = std::bit_cast<Bits>(larger) & last;
  const Bits kept = exponent < one ? one : exponent > last - 2 * one ? last - 2 * one : exponent;
  const R up = std::bit_cast<R>(kept), down = std::bit_cast<R>(static_cast<Bits>(last - one - kept));
  const R p = a * down, q = b * down, size = root(p * p + q * q) * up;
  constexpr R infinity = std::numeric_limits<R>::infinity();
  return a == infinity || b == infinity ? infinity : size;
}

}  // namespace rules::math
NAX_END
