#pragma once

// Arithmetic of registers by operators, which GCC and clang bring with the types, and MSVC does not.

#include "nax/backend/cpu/packets/instruction_set.hpp"
#include "nax/core/abi.hpp"

#if defined(NAX_MSVC) && defined(NAX_SSE2)
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

#define NAX_REGISTER_OPERATORS(type, mm, ps)                            \
  inline type operator+(type a, type b) { return mm##_add_##ps(a, b); } \
  inline type operator-(type a, type b) { return mm##_sub_##ps(a, b); } \
  inline type operator*(type a, type b) { return mm##_mul_##ps(a, b); } \
  inline type operator/(type a, type b) { return mm##_div_##ps(a, b); } \
  inline type operator-(type a) { return mm##_sub_##ps(mm##_set1_##ps(-0.f), a); }
NAX_REGISTER_OPERATORS(__m128, _mm, ps)
NAX_REGISTER_OPERATORS(__m128d, _mm, pd)
#if defined(NAX_AVX)
NAX_REGISTER_OPERATORS(__m256, _mm256, ps)
NAX_REGISTER_OPERATORS(__m256d, _mm256, pd)
#endif
#if defined(NAX_AVX512)
NAX_REGISTER_OPERATORS(__m512, _mm512, ps)
NAX_REGISTER_OPERATORS(__m512d, _mm512, pd)
#endif
#undef NAX_REGISTER_OPERATORS

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
#endif
