#pragma once

// Exact operations on packets: rounding, signs, minima, square root, bits, reductions.
//
// AVX-512 instructions are written in their maskz form with all lanes on: the plain form of several passes an
// uninitialised register in GCC's headers, and GCC 12 warns about that wherever it is inlined.

#include "nax/backend/cpu/packet_base.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

// a * b + c; one rounding where the machine has it (always where `fused` holds).
#ifdef EIGEN_HAS_SINGLE_INSTRUCTION_MADD
inline constexpr bool fused = true;
#else
inline constexpr bool fused = false;
#endif
template <class T>
Packet<T> fma(Packet<T> a, Packet<T> b, Packet<T> c) {
  return Packet<T>(ei::pmadd(a.raw, b.raw, c.raw));
}

template <class T>
Packet<T> abs(Packet<T> a) {
  return Packet<T>(ei::pabs(a.raw));
}
template <class T>
Packet<T> fabs(Packet<T> a) {
  return abs(a);
}

#ifdef EIGEN_VECTORIZE_AVX512
namespace detail {
template <class T>
inline constexpr mask_type<T> all_lanes = static_cast<mask_type<T>>(-1);
template <int mode, class T>
Packet<T> round_scale(Packet<T> a) {
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_roundscale_ps(all_lanes<T>, a.raw, mode));
  else
    return Packet<T>(_mm512_maskz_roundscale_pd(all_lanes<T>, a.raw, mode));
}
}  // namespace detail
template <class T>
Packet<T> floor(Packet<T> a) {
  return detail::round_scale<_MM_FROUND_TO_NEG_INF>(a);
}
template <class T>
Packet<T> ceil(Packet<T> a) {
  return detail::round_scale<_MM_FROUND_TO_POS_INF>(a);
}
template <class T>
Packet<T> trunc(Packet<T> a) {
  return detail::round_scale<_MM_FROUND_TO_ZERO>(a);
}
// To nearest, halves to even: NumPy's round (std::rint, not std::round).
template <class T>
Packet<T> rint(Packet<T> a) {
  return detail::round_scale<_MM_FROUND_TO_NEAREST_INT>(a);
}
#else
namespace detail {
// Without an instruction for it, Eigen's rounding drops the sign of a zero.
template <class T>
Packet<T> keep_sign(Packet<T> rounded, Packet<T> a) {
#ifdef EIGEN_VECTORIZE_SSE4_1
  static_cast<void>(a);
  return rounded;
#else
  const Packet<T> sign(T(-0.0));
  return Packet<T>(ei::por(ei::pabs(rounded.raw), ei::pand(a.raw, sign.raw)));
#endif
}
}  // namespace detail
template <class T>
Packet<T> floor(Packet<T> a) {
  return detail::keep_sign(Packet<T>(ei::pfloor(a.raw)), a);
}
template <class T>
Packet<T> ceil(Packet<T> a) {
  return detail::keep_sign(Packet<T>(ei::pceil(a.raw)), a);
}
template <class T>
Packet<T> rint(Packet<T> a) {
  return detail::keep_sign(Packet<T>(ei::print(a.raw)), a);
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

// Bits of the sign, and everything else.
template <class T>
Packet<T> sign_bit(Packet<T> a) {
  return Packet<T>(ei::pand(a.raw, Packet<T>(T(-0.0)).raw));
}
template <class T>
Packet<T> operator^(Packet<T> a, Packet<T> b) {
  return Packet<T>(ei::pxor(a.raw, b.raw));
}
template <class T>
Packet<T> copysign(Packet<T> magnitude, Packet<T> sign) {
  return Packet<T>(ei::por(abs(magnitude).raw, sign_bit(sign).raw));
}
// copysign for a magnitude that is not negative.
template <class T>
Packet<T> with_sign(Packet<T> magnitude, Packet<T> sign) {
  return Packet<T>(ei::por(magnitude.raw, sign_bit(sign).raw));
}
#ifndef EIGEN_VECTORIZE_AVX512
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
#ifdef EIGEN_VECTORIZE_AVX512
  // The instruction gives its second operand when one is NaN: only a NaN first operand needs help.
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_mask_max_ps(a.raw, (a == a).raw, a.raw, b.raw));
  else
    return Packet<T>(_mm512_mask_max_pd(a.raw, (a == a).raw, a.raw, b.raw));
#else
  return Packet<T>(ei::pmax<Eigen::PropagateNaN>(a.raw, b.raw));
#endif
}
template <class T>
Packet<T> min(Packet<T> a, Packet<T> b) {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_mask_min_ps(a.raw, (a == a).raw, a.raw, b.raw));
  else
    return Packet<T>(_mm512_mask_min_pd(a.raw, (a == a).raw, a.raw, b.raw));
#else
  return Packet<T>(ei::pmin<Eigen::PropagateNaN>(a.raw, b.raw));
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
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_min_ps(detail::all_lanes<T>, high.raw, a.raw));
  else
    return Packet<T>(_mm512_maskz_min_pd(detail::all_lanes<T>, high.raw, a.raw));
#else
  return Packet<T>(ei::pmin(a.raw, high.raw));
#endif
}
// low <= a <= high for numbers; a NaN in `a` stays. One instruction a bound.
template <class T>
Packet<T> clamp(Packet<T> a, Packet<T> low, Packet<T> high) {
#ifdef EIGEN_VECTORIZE_AVX512
  constexpr auto on = detail::all_lanes<T>;
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_max_ps(on, low.raw, _mm512_maskz_min_ps(on, high.raw, a.raw)));
  else
    return Packet<T>(_mm512_maskz_max_pd(on, low.raw, _mm512_maskz_min_pd(on, high.raw, a.raw)));
#else
  return Packet<T>(ei::pmax(ei::pmin(a.raw, high.raw), low.raw));
#endif
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
#ifdef EIGEN_VECTORIZE_AVX512
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
  return Packet<T>(ei::por(ei::pand(a.raw, Packet<T>(lane).raw), one.raw)) != one;
#endif
}

}  // namespace detail

// Correctly rounded (Eigen's own is an approximation for float).
template <class T>
Packet<T> sqrt(Packet<T> a) {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_sqrt_ps(detail::all_lanes<T>, a.raw));
  else
    return Packet<T>(_mm512_maskz_sqrt_pd(detail::all_lanes<T>, a.raw));
#elif defined(EIGEN_VECTORIZE_AVX)
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm256_sqrt_ps(a.raw));
  else
    return Packet<T>(_mm256_sqrt_pd(a.raw));
#elif defined(EIGEN_VECTORIZE_SSE2)
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm_sqrt_ps(a.raw));
  else
    return Packet<T>(_mm_sqrt_pd(a.raw));
#else
  return detail::by_lanes([](T x) { return std::sqrt(x); }, a);
#endif
}
template <class T>
Packet<T> rsqrt(Packet<T> a) {
  return Packet<T>(1) / sqrt(a);
}

namespace detail {
// The packet that a reduction continues with: with AVX-512 the two halves joined by `join`, else the whole.
template <class T, class F>
auto halved(Packet<T> a, F join) {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::is_same_v<T, float>) {
    const __m256d high = _mm512_maskz_extractf64x4_pd(0xF, _mm512_castps_pd(a.raw), 1);
    return join(_mm512_castps512_ps256(a.raw), _mm256_castpd_ps(high));
  } else {
    return join(_mm512_castpd512_pd256(a.raw), _mm512_maskz_extractf64x4_pd(0xF, a.raw, 1));
  }
#else
  static_cast<void>(join);
  return a.raw;
#endif
}
}  // namespace detail

// x[i] *= by.
template <class T>
void scale_run(T by, T* x, std::int64_t n) {
  constexpr std::int64_t width = Packet<T>::size;
  const Packet<T> factor(by);
  std::int64_t i = 0;
  for (; i + width <= n; i += width) (Packet<T>::load(x + i) * factor).store(x + i);
  for (; i < n; ++i) x[i] *= by;
}

template <class T>
T reduce_add(Packet<T> a) {
  return ei::predux(detail::halved(a, [](auto x, auto y) { return ei::padd(x, y); }));
}
template <class T>
T reduce_mul(Packet<T> a) {
  return ei::predux_mul(detail::halved(a, [](auto x, auto y) { return ei::pmul(x, y); }));
}
// NaN if any lane is.
template <class T>
T reduce_max(Packet<T> a) {
  if (any(isnan(a))) return nan<T>;
  return ei::predux_max(detail::halved(a, [](auto x, auto y) { return ei::pmax(x, y); }));
}
template <class T>
T reduce_min(Packet<T> a) {
  if (any(isnan(a))) return nan<T>;
  return ei::predux_min(detail::halved(a, [](auto x, auto y) { return ei::pmin(x, y); }));
}
template <class T>
Packet<T> reverse(Packet<T> a) {
  return Packet<T>(ei::preverse(a.raw));
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
