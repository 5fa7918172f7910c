#pragma once

// The instruction set that this file is compiled for, as macros (NAX_AVX512, NAX_AVX2, NAX_SSE2, NAX_NEON,
// ...), a name for it (NAX_SIMD_ABI), and the compiler's intrinsics. EIGEN_DONT_VECTORIZE asks for none, as
// it does in Eigen.

#include "nax/core/compiler.hpp"

#if !defined(EIGEN_DONT_VECTORIZE)
#if defined(NAX_MSVC) && defined(_M_X64)
// Its macros begin with AVX, and /arch:AVX2 stands for all that came with that.
#define NAX_SSE2
#if defined(__AVX__)
#define NAX_SSE4_1
#endif
#if defined(__AVX2__)
#define NAX_FMA
#define NAX_F16C
#endif
#elif defined(NAX_MSVC) && defined(_M_ARM64)
#define NAX_NEON
#endif
#if defined(__AVX512F__)
#define NAX_AVX512
#endif
#if defined(__AVX512DQ__)
#define NAX_AVX512DQ
#endif
#if defined(__AVX2__)
#define NAX_AVX2
#endif
#if defined(__AVX__)
#define NAX_AVX
#endif
#if defined(__FMA__) && !defined(NAX_FMA)
#define NAX_FMA
#endif
#if defined(__F16C__) && !defined(NAX_F16C)
#define NAX_F16C
#endif
#if defined(__SSE4_1__) && !defined(NAX_SSE4_1)
#define NAX_SSE4_1
#endif
#if defined(__SSE2__) && !defined(NAX_SSE2)
#define NAX_SSE2
#endif
#if defined(__aarch64__)
#define NAX_NEON
#endif
#endif

#if defined(NAX_AVX512)
#define NAX_SIMD_ABI avx512
#elif defined(NAX_AVX2) && defined(NAX_FMA)
#define NAX_SIMD_ABI avx2_fma
#elif defined(NAX_AVX2)
#define NAX_SIMD_ABI avx2
#elif defined(NAX_AVX) && defined(NAX_FMA)
#define NAX_SIMD_ABI avx_fma
#elif defined(NAX_AVX)
#define NAX_SIMD_ABI avx
#elif defined(NAX_SSE4_1)
#define NAX_SIMD_ABI sse4
#elif defined(NAX_SSE2)
#define NAX_SIMD_ABI sse2
#elif defined(NAX_NEON)
#define NAX_SIMD_ABI neon
#else
#define NAX_SIMD_ABI scalar
#endif

// Registers that a loop may hold: of packets, or of numbers.
#if defined(NAX_AVX512) || defined(NAX_NEON) || defined(__aarch64__)
#define NAX_REGISTERS 32
#elif defined(__x86_64__) || defined(_M_X64)
#define NAX_REGISTERS 16
#else
#define NAX_REGISTERS 8
#endif

#if defined(NAX_SSE2)
#include "nax/core/intrinsics.hpp"
#elif defined(NAX_NEON)
#include <arm_neon.h>
#endif

#ifdef __NVCC__
#pragma nv_diag_suppress 1675  // it hands GCC's pragmas on, though it does not know them
#endif
// Before a loop of few turns over registers: all of them are written out.
#if defined(__clang__)
#define NAX_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NAX_UNROLL _Pragma("GCC unroll 16")
#else
#define NAX_UNROLL
#endif
