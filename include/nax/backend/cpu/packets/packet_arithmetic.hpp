#pragma once

// Exact operations on packets: rounding, signs, minima, square root, bits, reductions.

#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/backend/cpu/packets/registers_join.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

// a * b + c; one rounding where the machine has it (always where `fused` holds).
#if defined(NAX_FMA) || defined(NAX_NEON)
inline constexpr bool fused = true;
#else
inline constexpr bool fused = false;
#endif
template <class T>
Packet<T> fma(Packet<T> a, Packet<T> b, Packet<T> c) {
  return Packet<T>(Registers<T>::fma(a.raw, b.raw, c.raw));
}

template <class T>
Packet<T> abs(Packet<T> a) {
  return Packet<T>(Registers<T>::and_not(a.raw, Registers<T>::all(T(-0.0))));
}
template <class T>
Packet<T> fabs(Packet<T> a) {
  return abs(a);
}

// Bits of the sign, and everything else.
template <class T>
Packet<T> sign_bit(Packet<T> a) {
  return Packet<T>(Registers<T>::bit_and(a.raw, Packet<T>(T(-0.0)).raw));
}
template <class T>
Packet<T> operator^(Packet<T> a, Packet<T> b) {
  return Packet<T>(Registers<T>::bit_xor(a.raw, b.raw));
}
template <class T>
Packet<T> copysign(Packet<T> magnitude, Packet<T> sign) {
  return Packet<T>(Registers<T>::bit_or(abs(magnitude).raw, sign_bit(sign).raw));
}
// copysign for a magnitude that is not negative.
template <class T>
Packet<T> with_sign(Packet<T> magnitude, Packet<T> sign) {
  return Packet<T>(Registers<T>::bit_or(magnitude.raw, sign_bit(sign).raw));
}

#if defined(NAX_AVX512)
template <class T>
Packet<T> floor(Packet<T> a) {
  return Packet<T>(Registers<T>::template round<_MM_FROUND_TO_NEG_INF>(a.raw));
}
template <class T>
Packet<T> ceil(Packet<T> a) {
  return Packet<T>(Registers<T>::template round<_MM_FROUND_TO_POS_INF>(a.raw));
}
template <class T>
Packet<T> trunc(Packet<T> a) {
  return Packet<T>(Registers<T>::template round<_MM_FROUND_TO_ZERO>(a.raw));
}
// To nearest, halves to even: NumPy's round (std::rint, not std::round).
template <class T>
Packet<T> rint(Packet<T> a) {
  return Packet<T>(Registers<T>::template round<_MM_FROUND_TO_NEAREST_INT>(a.raw));
}
#elif defined(NAX_SSE2) && !defined(NAX_SSE4_1)
// Without an instruction for it: a number of the size of no_fraction has no fraction, and what is added to it
// is rounded to nearest, halves to even.
template <class T>
Packet<T> rint(Packet<T> a) {
  const Packet<T> large(Registers<T>::no_fraction), size = abs(a);
  return select(size < large, with_sign((size + large) - large, a), a);
}
template <class T>
Packet<T> floor(Packet<T> a) {
  const Packet<T> nearby = rint(a);
  return with_sign(abs(nearby - kept(a < nearby, Packet<T>(1))), a);
}
template <class T>
Packet<T> ceil(Packet<T> a) {
  return -floor(-a);
}
#else
template <class T>
Packet<T> floor(Packet<T> a) {
  return Packet<T>(Registers<T>::floor(a.raw));
}
template <class T>
Packet<T> ceil(Packet<T> a) {
  return Packet<T>(Registers<T>::ceil(a.raw));
}
template <class T>
Packet<T> rint(Packet<T> a) {
  return Packet<T>(Registers<T>::rint(a.raw));
}
#endif
template <class T>
Packet<T> nearbyint(Packet<T> a) {
  return rint(a);
}
template <class T>
Packet<T> round(Packet<T> a) {
  return rint(a);
}

#ifndef NAX_AVX512
template <class T>
Packet<T> trunc(Packet<T> a) {
  return copysign(floor(abs(a)), a);
}
#endif

template <class T>
Mask<T> isnan(Packet<T> a) {
  return a != a;
}
template <class T>
Mask<T> isinf(Packet<T> a) {
  return abs(a) == Packet<T>(infinity<T>);
}
template <class T>
Mask<T> isfinite(Packet<T> a) {
  return abs(a) < Packet<T>(infinity<T>);
}
template <class T>
Mask<T> signbit(Packet<T> a) {
  return copysign(Packet<T>(1), a) < Packet<T>(0);
}
// NumPy's sign: -1, 0, 1, and NaN for NaN.
template <class T>
Packet<T> sign(Packet<T> a) {
  return select(a == Packet<T>(0) || isnan(a), a, copysign(Packet<T>(1), a));
}

// NumPy's maximum and minimum: NaN where either operand is NaN.
template <class T>
Packet<T> max(Packet<T> a, Packet<T> b) {
#ifdef NAX_AVX512
  // The instruction gives its second operand when one is NaN: only a NaN first operand needs help.
  return Packet<T>(Registers<T>::max(a.raw, (a == a).raw, a.raw, b.raw));
#else
  return select(a == a, Packet<T>(Registers<T>::max(b.raw, a.raw)), a);
#endif
}
template <class T>
Packet<T> min(Packet<T> a, Packet<T> b) {
#ifdef NAX_AVX512
  return Packet<T>(Registers<T>::min(a.raw, (a == a).raw, a.raw, b.raw));
#else
  return select(a == a, Packet<T>(Registers<T>::min(b.raw, a.raw)), a);
#endif
}
template <class T>
Packet<T> fmax(Packet<T> a, Packet<T> b) {
  return select(isnan(a), b, select(isnan(b), a, max(a, b)));
}
template <class T>
Packet<T> fmin(Packet<T> a, Packet<T> b) {
  return select(isnan(a), b, select(isnan(b), a, min(a, b)));
}
// a <= high for numbers; a NaN in `a` stays.
template <class T>
Packet<T> clamp_above(Packet<T> a, Packet<T> high) {
  return Packet<T>(Registers<T>::min(a.raw, high.raw));
}
// low <= a <= high for numbers; a NaN in `a` stays. One instruction a bound.
template <class T>
Packet<T> clamp(Packet<T> a, Packet<T> low, Packet<T> high) {
  return Packet<T>(Registers<T>::max(Registers<T>::min(a.raw, high.raw), low.raw));
}

namespace detail {

// The function f of std, lane by lane.
template <class T, class F>
Packet<T> by_lanes(F f, Packet<T> a) {
  alignas(raw_packet<T>) T x[Packet<T>::size];
  a.store(x);
  for (T& lane : x) lane = f(lane);
  return Packet<T>::load(x);
}
template <class T, class F>
Packet<T> by_lanes(F f, Packet<T> a, Packet<T> b) {
  alignas(raw_packet<T>) T x[Packet<T>::size], y[Packet<T>::size];
  a.store(x);
  b.store(y);
  for (int i = 0; i < Packet<T>::size; ++i) x[i] = f(x[i], y[i]);
  return Packet<T>::load(x);
}

// Whether bit k is set in the representation of each lane.
template <int k, class T>
Mask<T> bit(Packet<T> a) {
#ifdef NAX_AVX512
  if constexpr (std::is_same_v<T, float>)
    return Mask<T>(_mm512_test_epi32_mask(_mm512_castps_si512(a.raw), _mm512_set1_epi32(1 << k)));
  else
    return Mask<T>(_mm512_test_epi64_mask(_mm512_castpd_si512(a.raw), _mm512_set1_epi64(1ll << k)));
#else
  // Put into the fraction of 1, the bit makes a number that is not 1 (a bare bit would be subnormal).
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const U pattern = U{1} << k;
  T lane;
  std::memcpy(&lane, &pattern, sizeof lane);
  const Packet<T> one(1);
  return Packet<T>(Registers<T>::bit_or(Registers<T>::bit_and(a.raw, Packet<T>(lane).raw), one.raw)) != one;
#endif
}

}  // namespace detail

// Correctly rounded.
template <class T>
Packet<T> sqrt(Packet<T> a) {
  return Packet<T>(Registers<T>::sqrt(a.raw));
}
template <class T>
Packet<T> rsqrt(Packet<T> a) {
  return Packet<T>(1) / sqrt(a);
}

// x[i] *= by.
template <class T>
void scale_run(T by, T* x, std::int64_t n) {
  constexpr std::int64_t width = Packet<T>::size;
  const Packet<T> factor(by);
  std::int64_t i = 0;
  for (; i + width <= n; i += width) (Packet<T>::load(x + i) * factor).store(x + i);
  for (; i < n; ++i) x[i] *= by;
}

// Of all lanes.
template <class T>
T reduce_add(Packet<T> a) {
  return Registers<T>::join_lanes(a.raw, [](auto x, auto y) { return x + y; });
}
template <class T>
T reduce_mul(Packet<T> a) {
  return Registers<T>::join_lanes(a.raw, [](auto x, auto y) { return x * y; });
}
// NaN if any lane is.
template <class T>
T reduce_max(Packet<T> a) {
  if (any(isnan(a))) return nan<T>;
  return Registers<T>::join_lanes(a.raw, [](auto x, auto y) { return detail::larger(x, y); });
}
template <class T>
T reduce_min(Packet<T> a) {
  if (any(isnan(a))) return nan<T>;
  return Registers<T>::join_lanes(a.raw, [](auto x, auto y) { return detail::smaller(x, y); });
}
template <class T>
Packet<T> reverse(Packet<T> a) {
  return Packet<T>(Registers<T>::reverse(a.raw));
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
