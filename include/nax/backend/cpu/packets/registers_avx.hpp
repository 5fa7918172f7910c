#pragma once

// Registers of 256 bits: AVX, and what AVX2 and FMA do in one instruction. Without AVX2, integers are worked
// on by halves.

#include "nax/backend/cpu/packets/registers_scalar.hpp"
#include "nax/core/abi.hpp"

#if defined(NAX_AVX) && !defined(NAX_AVX512)
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

#ifdef NAX_AVX2
inline __m256i add_32(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
inline __m256i sub_32(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
inline __m256i add_64(__m256i a, __m256i b) { return _mm256_add_epi64(a, b); }
inline __m256i sub_64(__m256i a, __m256i b) { return _mm256_sub_epi64(a, b); }
template <int by>
__m256i right_32(__m256i a) {  // with the sign
  return _mm256_srai_epi32(a, by);
}
template <int by>
__m256i left_32(__m256i a) {
  return _mm256_slli_epi32(a, by);
}
template <int by>
__m256i right_64(__m256i a) {  // zeros come in
  return _mm256_srli_epi64(a, by);
}
template <int by>
__m256i left_64(__m256i a) {
  return _mm256_slli_epi64(a, by);
}
#else
template <class F, class... M>
__m256i by_halves(F f, M... a) {
  const __m128i high = f(_mm256_extractf128_si256(a, 1)...);
  return _mm256_insertf128_si256(_mm256_castsi128_si256(f(_mm256_castsi256_si128(a)...)), high, 1);
}
inline __m256i add_32(__m256i a, __m256i b) {
  return by_halves([](__m128i x, __m128i y) { return _mm_add_epi32(x, y); }, a, b);
}
inline __m256i sub_32(__m256i a, __m256i b) {
  return by_halves([](__m128i x, __m128i y) { return _mm_sub_epi32(x, y); }, a, b);
}
inline __m256i add_64(__m256i a, __m256i b) {
  return by_halves([](__m128i x, __m128i y) { return _mm_add_epi64(x, y); }, a, b);
}
inline __m256i sub_64(__m256i a, __m256i b) {
  return by_halves([](__m128i x, __m128i y) { return _mm_sub_epi64(x, y); }, a, b);
}
template <int by>
__m256i right_32(__m256i a) {
  return by_halves([](__m128i x) { return _mm_srai_epi32(x, by); }, a);
}
template <int by>
__m256i left_32(__m256i a) {
  return by_halves([](__m128i x) { return _mm_slli_epi32(x, by); }, a);
}
template <int by>
__m256i right_64(__m256i a) {
  return by_halves([](__m128i x) { return _mm_srli_epi64(x, by); }, a);
}
template <int by>
__m256i left_64(__m256i a) {
  return by_halves([](__m128i x) { return _mm_slli_epi64(x, by); }, a);
}
#endif

}  // namespace detail

template <>
struct Registers<float> {
  using type = __m256;
  using mask = __m256;
  static constexpr int size = 8;

  static type load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, type a) { _mm256_storeu_ps(to, a); }
  static type all(float value) { return _mm256_set1_ps(value); }

  static type bit_and(type a, type b) { return _mm256_and_ps(a, b); }
  static type bit_or(type a, type b) { return _mm256_or_ps(a, b); }
  static type bit_xor(type a, type b) { return _mm256_xor_ps(a, b); }
  static type and_not(type a, type b) { return _mm256_andnot_ps(b, a); }  // a & ~b
  static mask equal(type a, type b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static mask less(type a, type b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static mask less_equal(type a, type b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
  static unsigned bits(mask m) { return static_cast<unsigned>(_mm256_movemask_ps(m)); }
  static type select(mask m, type a, type b) { return _mm256_blendv_ps(b, a, m); }

  static type min(type a, type b) { return _mm256_min_ps(b, a); }
  static type max(type a, type b) { return _mm256_max_ps(b, a); }
  static type sqrt(type a) { return _mm256_sqrt_ps(a); }
  static type fma(type a, type b, type c) {
#ifdef NAX_FMA
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
  }
  static type floor(type a) { return _mm256_floor_ps(a); }
  static type ceil(type a) { return _mm256_ceil_ps(a); }
  static type rint(type a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

  static type reverse(type a) {
    const type lanes = _mm256_shuffle_ps(a, a, 0x1B);
    return _mm256_permute2f128_ps(lanes, lanes, 1);
  }
  // The lanes of a, joined in pairs of the two halves first.
  template <class Join>
  static float join_lanes(type a, Join join) {
    const __m128 quads = join(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 pairs = join(quads, _mm_movehl_ps(quads, quads));
    return _mm_cvtss_f32(join(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
  }

  // a * 2^k for whole k, rounded once: by two powers, each of about half the exponent. They are normal where
  // the result is not, and only the second product rounds.
  static type scale(type a, type k) {
    const __m256i whole = _mm256_cvtps_epi32(k), half = detail::right_32<1>(whole);
    return a * power(half) * power(detail::sub_32(whole, half));
  }
  // A normal x > 0 is m * 2^e with m in [3/4, 3/2): counted from the bits of 3/4, the upper bits are e.
  static type split(type x, type& e) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i above = detail::right_32<23>(detail::sub_32(bits, _mm256_set1_epi32(0x3f400000)));
    e = _mm256_cvtepi32_ps(above);
    return _mm256_castsi256_ps(detail::sub_32(bits, detail::left_32<23>(above)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    type quad[size];
    NAX_UNROLL
    for (int i = 0; i < size; i += 4) {  // quad[i + c]: column c (and c + 4) of rows i to i + 3
      const __m256d ab = _mm256_castps_pd(_mm256_unpacklo_ps(row[i], row[i + 1]));
      const __m256d AB = _mm256_castps_pd(_mm256_unpackhi_ps(row[i], row[i + 1]));
      const __m256d cd = _mm256_castps_pd(_mm256_unpacklo_ps(row[i + 2], row[i + 3]));
      const __m256d CD = _mm256_castps_pd(_mm256_unpackhi_ps(row[i + 2], row[i + 3]));
      quad[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd));
      quad[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd));
      quad[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(AB, CD));
      quad[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(AB, CD));
    }
    NAX_UNROLL
    for (int c = 0; c < 4; ++c) {
      row[c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x20);
      row[4 + c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x31);
    }
  }

 private:
  static type power(__m256i e) {
    return _mm256_castsi256_ps(detail::left_32<23>(detail::add_32(e, _mm256_set1_epi32(127))));
  }
};

template <>
struct Registers<double> {
  using type = __m256d;
  using mask = __m256d;
  static constexpr int size = 4;

  static type load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, type a) { _mm256_storeu_pd(to, a); }
  static type all(double value) { return _mm256_set1_pd(value); }

  static type bit_and(type a, type b) { return _mm256_and_pd(a, b); }
  static type bit_or(type a, type b) { return _mm256_or_pd(a, b); }
  static type bit_xor(type a, type b) { return _mm256_xor_pd(a, b); }
  static type and_not(type a, type b) { return _mm256_andnot_pd(b, a); }
  static mask equal(type a, type b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
  static mask less(type a, type b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  static mask less_equal(type a, type b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
  static unsigned bits(mask m) { return static_cast<unsigned>(_mm256_movemask_pd(m)); }
  static type select(mask m, type a, type b) { return _mm256_blendv_pd(b, a, m); }

  static type min(type a, type b) { return _mm256_min_pd(b, a); }
  static type max(type a, type b) { return _mm256_max_pd(b, a); }
  static type sqrt(type a) { return _mm256_sqrt_pd(a); }
  static type fma(type a, type b, type c) {
#ifdef NAX_FMA
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
  }
  static type floor(type a) { return _mm256_floor_pd(a); }
  static type ceil(type a) { return _mm256_ceil_pd(a); }
  static type rint(type a) { return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

  static type reverse(type a) {
    const type lanes = _mm256_shuffle_pd(a, a, 5);
    return _mm256_permute2f128_pd(lanes, lanes, 1);
  }
  template <class Join>
  static double join_lanes(type a, Join join) {
    const __m128d pairs = join(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(join(pairs, _mm_unpackhi_pd(pairs, pairs)));
  }

  // As for float. k is in the low half of the sum's bits, and of the high half the shift leaves nothing.
  static type scale(type a, type k) {
    const __m256i whole = _mm256_castpd_si256(k + all(6755399441055744.0));
    const __m256i half = detail::right_32<1>(whole);
    return a * power(half) * power(detail::sub_32(whole, half));
  }
  // As for float; moved up by 1024, e is not negative and so the low bits of a double of 2^52 and more.
  static type split(type x, type& e) {
    const __m256i bits = _mm256_castpd_si256(x);
    const __m256i above = detail::right_64<52>(
        detail::add_64(bits, _mm256_set1_epi64x(0x4000000000000000 - 0x3fe8000000000000)));
    const type low_bits = _mm256_castsi256_pd(above);
    e = bit_or(low_bits, all(4503599627370496.0)) - all(4503599627370496.0 + 1024);
    return _mm256_castsi256_pd(
        detail::sub_64(bits, detail::left_64<52>(detail::sub_64(above, _mm256_set1_epi64x(1024)))));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    const type ab = _mm256_unpacklo_pd(row[0], row[1]), cd = _mm256_unpacklo_pd(row[2], row[3]);
    const type AB = _mm256_unpackhi_pd(row[0], row[1]), CD = _mm256_unpackhi_pd(row[2], row[3]);
    row[0] = _mm256_permute2f128_pd(ab, cd, 0x20);
    row[1] = _mm256_permute2f128_pd(AB, CD, 0x20);
    row[2] = _mm256_permute2f128_pd(ab, cd, 0x31);
    row[3] = _mm256_permute2f128_pd(AB, CD, 0x31);
  }

 private:
  static type power(__m256i e) {
    return _mm256_castsi256_pd(detail::left_64<52>(detail::add_32(e, _mm256_set1_epi32(1023))));
  }
};

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
#endif
