#pragma once

// The larger and the smaller of two numbers, lane by lane, in registers of each width that an instruction set
// has: what Registers<T>::join_lanes calls as it halves a register. Neither is NaN.

#include "nax/backend/cpu/packets/instruction_set.hpp"
#include "nax/core/abi.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

#if defined(NAX_SSE2)
inline __m128 larger(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
inline __m128d larger(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
inline __m128 smaller(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
inline __m128d smaller(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
#if defined(NAX_AVX)
inline __m256 larger(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
inline __m256d larger(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
inline __m256 smaller(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
inline __m256d smaller(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
#endif
#elif defined(NAX_NEON)
inline float32x4_t larger(float32x4_t a, float32x4_t b) { return vmaxq_f32(a, b); }
inline float64x2_t larger(float64x2_t a, float64x2_t b) { return vmaxq_f64(a, b); }
inline float32x4_t smaller(float32x4_t a, float32x4_t b) { return vminq_f32(a, b); }
inline float64x2_t smaller(float64x2_t a, float64x2_t b) { return vminq_f64(a, b); }
#else
inline float larger(float a, float b) { return a < b ? b : a; }
inline double larger(double a, double b) { return a < b ? b : a; }
inline float smaller(float a, float b) { return b < a ? b : a; }
inline double smaller(double a, double b) { return b < a ? b : a; }
#endif

}  // namespace detail
}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
