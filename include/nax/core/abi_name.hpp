#pragma once

#include "nax/core/compiler.hpp"

// NAX_ABI: the name of the instructions that this file may be compiled to (abi.hpp): a level of x86-64 (all
// of its instructions), then a letter for each of the others that a compiler uses by itself; I stands for
// those that Intel's Ice Lake and AMD's Zen 4 brought together. MSVC has macros from AVX on; /arch:AVX2
// stands for the third level.
#if (defined(__SSE3__) && defined(__SSSE3__) && defined(__SSE4_1__) && defined(__SSE4_2__) && \
     defined(__POPCNT__)) ||                                                                  \
    (defined(NAX_MSVC) && defined(__AVX__))
#define NAX_ABI_V2 1
#else
#define NAX_ABI_V2 0
#endif
#if (NAX_ABI_V2 && defined(__AVX__) && defined(__AVX2__) && defined(__BMI__) && defined(__BMI2__) && \
     defined(__F16C__) && defined(__FMA__) && defined(__LZCNT__) && defined(__MOVBE__)) ||           \
    (defined(NAX_MSVC) && defined(__AVX2__))
#define NAX_ABI_V3 1
#else
#define NAX_ABI_V3 0
#endif
#if NAX_ABI_V3 && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#define NAX_ABI_V4 1
#else
#define NAX_ABI_V4 0
#endif

#if (defined(__x86_64__) || defined(_M_X64)) && NAX_ABI_V4
#define NAX_ABI_LEVEL x86_v4
#elif (defined(__x86_64__) || defined(_M_X64)) && NAX_ABI_V3
#define NAX_ABI_LEVEL x86_v3
#elif (defined(__x86_64__) || defined(_M_X64)) && NAX_ABI_V2
#define NAX_ABI_LEVEL x86_v2
#elif defined(__x86_64__) || defined(_M_X64)
#define NAX_ABI_LEVEL x86_v1
#elif defined(__aarch64__) || defined(_M_ARM64)
#define NAX_ABI_LEVEL aarch64
#else
#define NAX_ABI_LEVEL generic
#endif

#if NAX_ABI_V4 && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) && defined(__AVX512VNNI__) && \
    defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__) && defined(__AVX512IFMA__) &&         \
    defined(__GFNI__)
#define NAX_ABI_ICE_LAKE 1
#else
#define NAX_ABI_ICE_LAKE 0
#endif

// The letters; those of ARM stand for other instructions.
#if (defined(__SSE3__) && !NAX_ABI_V2) || defined(__ARM_FEATURE_SVE)
#define NAX_ABI_A A
#else
#define NAX_ABI_A
#endif
#if (defined(__SSSE3__) && !NAX_ABI_V2) || defined(__ARM_FEATURE_SVE2)
#define NAX_ABI_B B
#else
#define NAX_ABI_B
#endif
#if (defined(__SSE4_1__) && !NAX_ABI_V2) || defined(__ARM_FEATURE_DOTPROD)
#define NAX_ABI_C C
#else
#define NAX_ABI_C
#endif
#if (defined(__SSE4_2__) && !NAX_ABI_V2) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define NAX_ABI_D D
#else
#define NAX_ABI_D
#endif
#if (defined(__POPCNT__) && !NAX_ABI_V2) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define NAX_ABI_E E
#else
#define NAX_ABI_E
#endif
#if (defined(__AVX__) && !NAX_ABI_V3) || defined(__ARM_FEATURE_MATMUL_INT8)
#define NAX_ABI_a a
#else
#define NAX_ABI_a
#endif
#if (defined(__AVX2__) && !NAX_ABI_V3) || defined(__ARM_FEATURE_ATOMICS)
#define NAX_ABI_b b
#else
#define NAX_ABI_b
#endif
#if (defined(__BMI__) && !NAX_ABI_V3) || defined(__ARM_FEATURE_QRDMX)
#define NAX_ABI_c c
#else
#define NAX_ABI_c
#endif
#if (defined(__BMI2__) && !NAX_ABI_V3) || defined(__ARM_FEATURE_COMPLEX)
#define NAX_ABI_d d
#else
#define NAX_ABI_d
#endif
#if (defined(__F16C__) && !NAX_ABI_V3) || defined(__ARM_FEATURE_FMA)
#define NAX_ABI_e e
#else
#define NAX_ABI_e
#endif
#if defined(__FMA__) && !NAX_ABI_V3
#define NAX_ABI_f f
#else
#define NAX_ABI_f
#endif
#if defined(__LZCNT__) && !NAX_ABI_V3
#define NAX_ABI_g g
#else
#define NAX_ABI_g
#endif
#if defined(__MOVBE__) && !NAX_ABI_V3
#define NAX_ABI_h h
#else
#define NAX_ABI_h
#endif
#if defined(__AVX512F__) && !NAX_ABI_V4
#define NAX_ABI_i i
#else
#define NAX_ABI_i
#endif
#if defined(__AVX512CD__) && !NAX_ABI_V4
#define NAX_ABI_j j
#else
#define NAX_ABI_j
#endif
#if defined(__AVX512BW__) && !NAX_ABI_V4
#define NAX_ABI_k k
#else
#define NAX_ABI_k
#endif
#if defined(__AVX512DQ__) && !NAX_ABI_V4
#define NAX_ABI_l l
#else
#define NAX_ABI_l
#endif
#if defined(__AVX512VL__) && !NAX_ABI_V4
#define NAX_ABI_m m
#else
#define NAX_ABI_m
#endif
#if defined(__AVX512VBMI__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_n n
#else
#define NAX_ABI_n
#endif
#if defined(__AVX512VBMI2__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_o o
#else
#define NAX_ABI_o
#endif
#if defined(__AVX512VNNI__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_p p
#else
#define NAX_ABI_p
#endif
#if defined(__AVX512BITALG__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_q q
#else
#define NAX_ABI_q
#endif
#if defined(__AVX512VPOPCNTDQ__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_r r
#else
#define NAX_ABI_r
#endif
#if defined(__AVX512IFMA__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_s s
#else
#define NAX_ABI_s
#endif
#if defined(__AVX512BF16__)
#define NAX_ABI_t t
#else
#define NAX_ABI_t
#endif
#if defined(__AVX512FP16__)
#define NAX_ABI_u u
#else
#define NAX_ABI_u
#endif
#if defined(__AVX512ER__) || defined(__AVX512PF__)
#define NAX_ABI_v v
#else
#define NAX_ABI_v
#endif
#if defined(__AVXVNNI__)
#define NAX_ABI_w w
#else
#define NAX_ABI_w
#endif
#if defined(__GFNI__) && !NAX_ABI_ICE_LAKE
#define NAX_ABI_x x
#else
#define NAX_ABI_x
#endif
#if defined(__SSE4A__) || defined(__XOP__) || defined(__FMA4__) || defined(__TBM__)
#define NAX_ABI_y y
#else
#define NAX_ABI_y
#endif
#if defined(__AVX10_1__) || defined(__AVX10_2__) || defined(__APX_F__)
#define NAX_ABI_z z
#else
#define NAX_ABI_z
#endif

#if NAX_ABI_ICE_LAKE
#define NAX_ABI_I I
#else
#define NAX_ABI_I
#endif

#define NAX_ABI_PASTE_(level, xI, xA, xB, xC, xD, xE, xa, xb, xc, xd, xe, xf, xg, xh, xi, xj, xk, xl, xm, \
                       xn, xo, xp, xq, xr, xs, xt, xu, xv, xw, xx, xy, xz)                                \
  level##xI##xA##xB##xC##xD##xE##xa##xb##xc##xd##xe##xf##xg##xh##xi##xj##xk##xl##xm##xn##xo##xp##xq##xr##xs##xt##xu##xv##xw##xx##xy##xz
#define NAX_ABI_PASTE(...) NAX_ABI_PASTE_(__VA_ARGS__)
#define NAX_ABI                                                                                             \
  NAX_ABI_PASTE(NAX_ABI_LEVEL, NAX_ABI_I, NAX_ABI_A, NAX_ABI_B, NAX_ABI_C, NAX_ABI_D, NAX_ABI_E, NAX_ABI_a, \
                NAX_ABI_b, NAX_ABI_c, NAX_ABI_d, NAX_ABI_e, NAX_ABI_f, NAX_ABI_g, NAX_ABI_h, NAX_ABI_i,     \
                NAX_ABI_j, NAX_ABI_k, NAX_ABI_l, NAX_ABI_m, NAX_ABI_n, NAX_ABI_o, NAX_ABI_p, NAX_ABI_q,     \
                NAX_ABI_r, NAX_ABI_s, NAX_ABI_t, NAX_ABI_u, NAX_ABI_v, NAX_ABI_w, NAX_ABI_x, NAX_ABI_y,     \
                NAX_ABI_z)
