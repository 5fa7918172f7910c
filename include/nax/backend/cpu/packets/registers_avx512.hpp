#pragma once

// Registers of 512 bits. Comparisons give bit masks.
//
// Instructions are written in their maskz form with all lanes on: the plain form of several passes an
// uninitialised register in GCC's headers, and GCC 12 warns about that wherever it is inlined.

#include "nax/backend/cpu/packets/registers_scalar.hpp"
#include "nax/core/abi.hpp"

#if defined(NAX_AVX512)
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <>
struct Registers<float> {
  using type = __m512;
  using mask = __mmask16;
  static constexpr int size = 16;
  static constexpr mask on = 0xFFFF;

  static type load(const float* from) { return _mm512_loadu_ps(from); }
  static type load(const float* from, mask lanes) { return _mm512_maskz_loadu_ps(lanes, from); }
  static void store(float* to, type a) { _mm512_storeu_ps(to, a); }
  static void store(float* to, mask lanes, type a) { _mm512_mask_storeu_ps(to, lanes, a); }
  static type all(float value) { return _mm512_set1_ps(value); }

  static type bit_and(type a, type b) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  }
  static type bit_or(type a, type b) {
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  }
  static type bit_xor(type a, type b) {
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  }
  static type and_not(type a, type b) {  // a & ~b
    return _mm512_castsi512_ps(_mm512_maskz_andnot_epi32(on, _mm512_castps_si512(b), _mm512_castps_si512(a)));
  }
  template <int predicate>
  static mask compare(type a, type b) {
    return _mm512_cmp_ps_mask(a, b, predicate);
  }
  static type select(mask m, type a, type b) { return _mm512_mask_blend_ps(m, b, a); }
  static type kept(mask m, type a) { return _mm512_maskz_mov_ps(m, a); }

  static type min(type a, type b) { return _mm512_maskz_min_ps(on, b, a); }
  static type max(type a, type b) { return _mm512_maskz_max_ps(on, b, a); }
  static type min(type otherwise, mask m, type a, type b) { return _mm512_mask_min_ps(otherwise, m, a, b); }
  static type max(type otherwise, mask m, type a, type b) { return _mm512_mask_max_ps(otherwise, m, a, b); }
  static type sqrt(type a) { return _mm512_maskz_sqrt_ps(on, a); }
  static type fma(type a, type b, type c) { return _mm512_fmadd_ps(a, b, c); }
  template <int mode>
  static type round(type a) {
    return _mm512_maskz_roundscale_ps(on, a, mode);
  }
  static type scale(type a, type k) { return _mm512_maskz_scalef_ps(on, a, k); }
  static type reverse(type a) {
    const __m512i from = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_maskz_permutexvar_ps(on, from, a);
  }
  // The lanes of a, joined in pairs of the two halves first.
  template <class Join>
  static float join_lanes(type a, Join join) {
    const __m256d high = _mm512_maskz_extractf64x4_pd(0xF, _mm512_castps_pd(a), 1);
    const __m256 octets = join(_mm512_castps512_ps256(a), _mm256_castpd_ps(high));
    const __m128 quads = join(_mm256_castps256_ps128(octets), _mm256_extractf128_ps(octets, 1));
    const __m128 pairs = join(quads, _mm_movehl_ps(quads, quads));
    return _mm_cvtss_f32(join(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    type quad[size];
    NAX_UNROLL
    for (int i = 0; i < size; i += 4) {  // quad[i + c]: columns c, c + 4, c + 8, c + 12 of rows i to i + 3
      const __m512d ab = _mm512_castps_pd(_mm512_maskz_unpacklo_ps(on, row[i], row[i + 1]));
      const __m512d AB = _mm512_castps_pd(_mm512_maskz_unpackhi_ps(on, row[i], row[i + 1]));
      const __m512d cd = _mm512_castps_pd(_mm512_maskz_unpacklo_ps(on, row[i + 2], row[i + 3]));
      const __m512d CD = _mm512_castps_pd(_mm512_maskz_unpackhi_ps(on, row[i + 2], row[i + 3]));
      quad[i] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xFF, ab, cd));
      quad[i + 1] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xFF, ab, cd));
      quad[i + 2] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xFF, AB, CD));
      quad[i + 3] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xFF, AB, CD));
    }
    NAX_UNROLL
    for (int c = 0; c < 4; ++c) {
      const type even = _mm512_maskz_shuffle_f32x4(on, quad[c], quad[4 + c], 0x88);
      const type odd = _mm512_maskz_shuffle_f32x4(on, quad[c], quad[4 + c], 0xDD);
      const type low_even = _mm512_maskz_shuffle_f32x4(on, quad[8 + c], quad[12 + c], 0x88);
      const type low_odd = _mm512_maskz_shuffle_f32x4(on, quad[8 + c], quad[12 + c], 0xDD);
      row[c] = _mm512_maskz_shuffle_f32x4(on, even, low_even, 0x88);
      row[4 + c] = _mm512_maskz_shuffle_f32x4(on, odd, low_odd, 0x88);
      row[8 + c] = _mm512_maskz_shuffle_f32x4(on, even, low_even, 0xDD);
      row[12 + c] = _mm512_maskz_shuffle_f32x4(on, odd, low_odd, 0xDD);
    }
  }
};

template <>
struct Registers<double> {
  using type = __m512d;
  using mask = __mmask8;
  static constexpr int size = 8;
  static constexpr mask on = 0xFF;

  static type load(const double* from) { return _mm512_loadu_pd(from); }
  static type load(const double* from, mask lanes) { return _mm512_maskz_loadu_pd(lanes, from); }
  static void store(double* to, type a) { _mm512_storeu_pd(to, a); }
  static void store(double* to, mask lanes, type a) { _mm512_mask_storeu_pd(to, lanes, a); }
  static type all(double value) { return _mm512_set1_pd(value); }

  static type bit_and(type a, type b) {
    return _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  static type bit_or(type a, type b) {
    return _mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  static type bit_xor(type a, type b) {
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  static type and_not(type a, type b) {  // a & ~b
    return _mm512_castsi512_pd(_mm512_maskz_andnot_epi64(on, _mm512_castpd_si512(b), _mm512_castpd_si512(a)));
  }
  template <int predicate>
  static mask compare(type a, type b) {
    return _mm512_cmp_pd_mask(a, b, predicate);
  }
  static type select(mask m, type a, type b) { return _mm512_mask_blend_pd(m, b, a); }
  static type kept(mask m, type a) { return _mm512_maskz_mov_pd(m, a); }

  static type min(type a, type b) { return _mm512_maskz_min_pd(on, b, a); }
  static type max(type a, type b) { return _mm512_maskz_max_pd(on, b, a); }
  static type min(type otherwise, mask m, type a, type b) { return _mm512_mask_min_pd(otherwise, m, a, b); }
  static type max(type otherwise, mask m, type a, type b) { return _mm512_mask_max_pd(otherwise, m, a, b); }
  static type sqrt(type a) { return _mm512_maskz_sqrt_pd(on, a); }
  static type fma(type a, type b, type c) { return _mm512_fmadd_pd(a, b, c); }
  template <int mode>
  static type round(type a) {
    return _mm512_maskz_roundscale_pd(on, a, mode);
  }
  static type scale(type a, type k) { return _mm512_maskz_scalef_pd(on, a, k); }
  static type reverse(type a) {
    return _mm512_maskz_permutexvar_pd(on, _mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), a);
  }
  template <class Join>
  static double join_lanes(type a, Join join) {
    const __m256d quads = join(_mm512_castpd512_pd256(a), _mm512_maskz_extractf64x4_pd(0xF, a, 1));
    const __m128d pairs = join(_mm256_castpd256_pd128(quads), _mm256_extractf128_pd(quads, 1));
    return _mm_cvtsd_f64(join(pairs, _mm_unpackhi_pd(pairs, pairs)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    type pair[size];
    NAX_UNROLL
    for (int i = 0; i < size; i += 2) {  // pair[i + c]: columns c, c + 2, c + 4, c + 6 of rows i and i + 1
      pair[i] = _mm512_maskz_unpacklo_pd(on, row[i], row[i + 1]);
      pair[i + 1] = _mm512_maskz_unpackhi_pd(on, row[i], row[i + 1]);
    }
    NAX_UNROLL
    for (int c = 0; c < 2; ++c) {
      const type even = _mm512_maskz_shuffle_f64x2(on, pair[c], pair[2 + c], 0x88);
      const type odd = _mm512_maskz_shuffle_f64x2(on, pair[c], pair[2 + c], 0xDD);
      const type low_even = _mm512_maskz_shuffle_f64x2(on, pair[4 + c], pair[6 + c], 0x88);
      const type low_odd = _mm512_maskz_shuffle_f64x2(on, pair[4 + c], pair[6 + c], 0xDD);
      row[c] = _mm512_maskz_shuffle_f64x2(on, even, low_even, 0x88);
      row[2 + c] = _mm512_maskz_shuffle_f64x2(on, odd, low_odd, 0x88);
      row[4 + c] = _mm512_maskz_shuffle_f64x2(on, even, low_even, 0xDD);
      row[6 + c] = _mm512_maskz_shuffle_f64x2(on, odd, low_odd, 0xDD);
    }
  }
};

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
#endif
