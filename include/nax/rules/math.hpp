#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nax/rules/signature.hpp"

// Functions of plain numbers that <cmath> has not. Their counterparts for packets and recorded arrays are
// found in the namespaces of those.
NAX_BEGIN
namespace rules {

// f(x, ...) for numbers; lane by lane for packets.
template <class F, Dtype V, class... W>
constexpr V by_lanes(F f, V x, W... y) {
  return f(x, y...);
}
// A number that is the same for all elements.
template <Dtype V>
constexpr V uniform(V x) {
  return x;
}

// Unsigned arithmetic wraps where that of signed integers is undefined.
template <class V>
using wrapping_t = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;

namespace math {

// A power of two whose reciprocal is a normal number.
template <class C>
constexpr bool is_power_of_two(C c) {
  static_assert(std::is_same_v<C, float> || std::is_same_v<C, double>);
  using Bits = std::conditional_t<sizeof(C) == 4, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = std::numeric_limits<C>::digits - 1;
  constexpr Bits top = (Bits(1) << (sizeof(C) * 8 - 1 - mantissa)) - 1;  // of the exponent
  const Bits bits = std::bit_cast<Bits>(c), exponent = bits >> mantissa & top;
  return (bits & ((Bits(1) << mantissa) - 1)) == 0 && exponent > 1 && exponent < top - 2;
}

template <Dtype V>
constexpr V sign(V x) {
  if constexpr (is_complex_v<V>)
    return x == V(0) ? x : x / std::abs(x);
  else if constexpr (std::is_unsigned_v<V>)
    return static_cast<V>(x != V(0));
  else
    return x > V(0) ? V(1) : x < V(0) ? V(-1) : x;  // NaN and signed zeros stay
}

template <Dtype V>
constexpr V expit(V x) {
  using std::exp;
  return V(1) / (V(1) + exp(-x));
}

template <Dtype V>
constexpr V conj(V x) {
  if constexpr (is_complex_v<V>)
    return std::conj(x);
  else
    return x;
}

template <Dtype V>
constexpr V rsqrt(V x) {
  return V(1) / std::sqrt(x);
}

// The order of complex numbers, where NumPy has one: by real part, then by imaginary part.
template <Dtype V>
constexpr bool precedes(V x, V y) {
  if constexpr (is_complex_v<V>)
    return x.real() < y.real() || (x.real() == y.real() && x.imag() < y.imag());
  else
    return x < y;
}
// NaN where either is NaN.
template <Dtype V>
constexpr V max(V x, V y) {
  return x != x || precedes(y, x) ? x : y;
}
template <Dtype V>
constexpr V min(V x, V y) {
  return x != x || precedes(x, y) ? x : y;
}

// x^n for whole n by repeated squaring; a negative n of integers gives the truncated value.
template <class V, class N>
constexpr V integer_power(V x, N n) {
  if constexpr (std::is_integral_v<V>) {
    if (n < N(0)) return x == V(1) ? x : x == static_cast<V>(-1) ? static_cast<V>(n % 2 == 0 ? 1 : -1) : V(0);
    wrapping_t<V> product = 1, factor = static_cast<wrapping_t<V>>(x);
    for (auto bits = static_cast<std::uint64_t>(n); bits != 0; bits >>= 1) {
      if (bits & 1) product *= factor;
      factor *= factor;
    }
    return static_cast<V>(product);
  } else {
    auto bits = static_cast<std::uint64_t>(n < N(0) ? -n : n);
    V product(1), factor = x;
    for (; bits != 0; bits >>= 1) {
      if (bits & 1) product = product * factor;
      if (bits > 1) factor = factor * factor;
    }
    return n < N(0) ? V(1) / product : product;
  }
}

// The quotient of integers, toward minus infinity; NumPy's zero for a zero divisor.
template <class V>
constexpr V integer_floor_divide(V x, V y) {
  if (y == V(0)) return V(0);
  if constexpr (std::is_signed_v<V>) {
    if (y == V(-1)) return static_cast<V>(wrapping_t<V>(0) - static_cast<wrapping_t<V>>(x));
    const V quotient = static_cast<V>(x / y);
    return static_cast<V>(quotient - (x % y != 0 && (x < 0) != (y < 0)));
  } else {
    return static_cast<V>(x / y);
  }
}
// The remainder of C: it has the sign of the dividend.
template <class V>
constexpr V integer_fmod(V x, V y) {
  if (y == V(0)) return V(0);
  if constexpr (std::is_signed_v<V>) {
    if (y == V(-1)) return V(0);
  }
  return static_cast<V>(x % y);
}
// The remainder of integer_floor_divide: it has the sign of the divisor.
template <class V>
constexpr V integer_mod(V x, V y) {
  const V r = integer_fmod(x, y);
  if constexpr (std::is_signed_v<V>) {
    if (r != V(0) && (r < V(0)) != (y < V(0))) return static_cast<V>(r + y);
  }
  return r;
}

}  // namespace math
}  // namespace rules
NAX_END
