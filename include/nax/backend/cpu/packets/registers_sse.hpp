#pragma once

// Registers of 128 bits: SSE2, and what SSE4.1 and FMA do in one instruction.

#include "nax/backend/cpu/packets/registers_scalar.hpp"
#include "nax/core/abi.hpp"

#if defined(NAX_SSE2) && !defined(NAX_AVX)
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <>
struct Registers<float> {
  using type = __m128;
  using mask = __m128;
  static constexpr int size = 4;

  static type load(const float* from) { return _mm_loadu_ps(from); }
  static void store(float* to, type a) { _mm_storeu_ps(to, a); }
  static type all(float value) { return _mm_set1_ps(value); }

  static type bit_and(type a, type b) { return _mm_and_ps(a, b); }
  static type bit_or(type a, type b) { return _mm_or_ps(a, b); }
  static type bit_xor(type a, type b) { return _mm_xor_ps(a, b); }
  static type and_not(type a, type b) { return _mm_andnot_ps(b, a); }  // a & ~b
  static mask equal(type a, type b) { return _mm_cmpeq_ps(a, b); }
  static mask less(type a, type b) { return _mm_cmplt_ps(a, b); }
  static mask less_equal(type a, type b) { return _mm_cmple_ps(a, b); }
  static unsigned bits(mask m) { return static_cast<unsigned>(_mm_movemask_ps(m)); }
  static type select(mask m, type a, type b) {
#ifdef NAX_SSE4_1
    return _mm_blendv_ps(b, a, m);
#else
    return bit_or(bit_and(m, a), and_not(b, m));
#endif
  }

  static type min(type a, type b) { return _mm_min_ps(b, a); }
  static type max(type a, type b) { return _mm_max_ps(b, a); }
  static type sqrt(type a) { return _mm_sqrt_ps(a); }
  static type fma(type a, type b, type c) {
#ifdef NAX_FMA
    return _mm_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
  }
#ifdef NAX_SSE4_1
  static type floor(type a) { return _mm_floor_ps(a); }
  static type ceil(type a) { return _mm_ceil_ps(a); }
  static type rint(type a) { return _mm_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#else
  static constexpr float no_fraction = 8388608;  // 2^23: numbers of this size are whole
#endif

  static type reverse(type a) { return _mm_shuffle_ps(a, a, 0x1B); }
  // The lanes of a, joined in pairs of the two halves first.
  template <class Join>
  static float join_lanes(type a, Join join) {
    const type pairs = join(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(join(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
  }

  // a * 2^k for whole k, rounded once: by two powers, each of about half the exponent. They are normal where
  // the result is not, and only the second product rounds.
  static type scale(type a, type k) {
    const __m128i whole = _mm_cvtps_epi32(k), half = _mm_srai_epi32(whole, 1);
    return a * power(half) * power(_mm_sub_epi32(whole, half));
  }
  // A normal x > 0 is m * 2^e with m in [3/4, 3/2): counted from the bits of 3/4, the upper bits are e.
  static type split(type x, type& e) {
    const __m128i bits = _mm_castps_si128(x);
    const __m128i above = _mm_srai_epi32(_mm_sub_epi32(bits, _mm_set1_epi32(0x3f400000)), 23);
    e = _mm_cvtepi32_ps(above);
    return _mm_castsi128_ps(_mm_sub_epi32(bits, _mm_slli_epi32(above, 23)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    const type ab = _mm_unpacklo_ps(row[0], row[1]), cd = _mm_unpacklo_ps(row[2], row[3]);
    const type AB = _mm_unpackhi_ps(row[0], row[1]), CD = _mm_unpackhi_ps(row[2], row[3]);
    row[0] = _mm_movelh_ps(ab, cd);
    row[1] = _mm_movehl_ps(cd, ab);
    row[2] = _mm_movelh_ps(AB, CD);
    row[3] = _mm_movehl_ps(CD, AB);
  }

 private:
  static type power(__m128i e) {
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(e, _mm_set1_epi32(127)), 23));
  }
};

template <>
struct Registers<double> {
  using type = __m128d;
  using mask = __m128d;
  static constexpr int size = 2;

  static type load(const double* from) { return _mm_loadu_pd(from); }
  static void store(double* to, type a) { _mm_storeu_pd(to, a); }
  static type all(double value) { return _mm_set1_pd(value); }

  static type bit_and(type a, type b) { return _mm_and_pd(a, b); }
  static type bit_or(type a, type b) { return _mm_or_pd(a, b); }
  static type bit_xor(type a, type b) { return _mm_xor_pd(a, b); }
  static type and_not(type a, type b) { return _mm_andnot_pd(b, a); }
  static mask equal(type a, type b) { return _mm_cmpeq_pd(a, b); }
  static mask less(type a, type b) { return _mm_cmplt_pd(a, b); }
  static mask less_equal(type a, type b) { return _mm_cmple_pd(a, b); }
  static unsigned bits(mask m) { return static_cast<unsigned>(_mm_movemask_pd(m)); }
  static type select(mask m, type a, type b) {
#ifdef NAX_SSE4_1
    return _mm_blendv_pd(b, a, m);
#else
    return bit_or(bit_and(m, a), and_not(b, m));
#endif
  }

  static type min(type a, type b) { return _mm_min_pd(b, a); }
  static type max(type a, type b) { return _mm_max_pd(b, a); }
  static type sqrt(type a) { return _mm_sqrt_pd(a); }
  static type fma(type a, type b, type c) {
#ifdef NAX_FMA
    return _mm_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
  }
#ifdef NAX_SSE4_1
  static type floor(type a) { return _mm_floor_pd(a); }
  static type ceil(type a) { return _mm_ceil_pd(a); }
  static type rint(type a) { return _mm_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#else
  static constexpr double no_fraction = 4503599627370496;  // 2^52
#endif

  static type reverse(type a) { return _mm_shuffle_pd(a, a, 1); }
  template <class Join>
  static double join_lanes(type a, Join join) {
    return _mm_cvtsd_f64(join(a, _mm_unpackhi_pd(a, a)));
  }

  // As for float. k is in the low half of the sum's bits, and of the high half the shift leaves nothing.
  static type scale(type a, type k) {
    const __m128i whole = _mm_castpd_si128(k + all(6755399441055744.0)), half = _mm_srai_epi32(whole, 1);
    return a * power(half) * power(_mm_sub_epi32(whole, half));
  }
  // As for float; moved up by 1024, e is not negative and so the low bits of a double of 2^52 and more.
  static type split(type x, type& e) {
    const __m128i bits = _mm_castpd_si128(x);
    const __m128i above =
        _mm_srli_epi64(_mm_add_epi64(bits, _mm_set1_epi64x(0x4000000000000000 - 0x3fe8000000000000)), 52);
    e = _mm_castsi128_pd(_mm_or_si128(above, _mm_set1_epi64x(0x4330000000000000))) -
        all(4503599627370496.0 + 1024);
    return _mm_castsi128_pd(
        _mm_sub_epi64(bits, _mm_slli_epi64(_mm_sub_epi64(above, _mm_set1_epi64x(1024)), 52)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    const type low = _mm_unpacklo_pd(row[0], row[1]);
    row[1] = _mm_unpackhi_pd(row[0], row[1]);
    row[0] = low;
  }

 private:
  static type power(__m128i e) {
    return _mm_castsi128_pd(_mm_slli_epi64(_mm_add_epi32(e, _mm_set1_epi32(1023)), 52));
  }
};

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
#endif
