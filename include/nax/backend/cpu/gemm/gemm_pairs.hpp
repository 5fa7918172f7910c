#pragma once

// Products of bfloat16 matrices by instructions that multiply pairs along k and add up floats: AMX's tiles
// where the process may use them, else VDPBF16PS. Both round as float multiply-adds do, but take subnormal
// numbers for zeros. The result is rounded once.
//
// Both operands are packed into tiles of 16 lines by 32 steps of k, whatever their strides: those of A line
// after line, those of B pair of steps after pair of steps. Lines and steps that do not exist are zeros.

#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/core/half.hpp"

// The name of nax's namespace says whether AVX512_BF16 is there; AMX is found out at run time.
#if defined(__x86_64__) && defined(__linux__) && defined(__AVX512BF16__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__) && defined(NAX_AVX512)
#define NAX_MULTIPLIES_PAIRS 1
#else
#define NAX_MULTIPLIES_PAIRS 0
#endif

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

#if NAX_MULTIPLIES_PAIRS

enum class PairsUnit { vectors, tiles };

// The faster unit that this process may use. Asks the system for AMX once.
NAX_ENGINE PairsUnit pairs_unit();

// Where packing costs less than converting to float does, and sums of floats are long enough.
inline bool pays_to_multiply_pairs(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t least = 1 << 11, most_inner_pairs = 1 << 14;
  return k <= most_inner_pairs && k >= 4 && m * n >= 16 && m * n * k >= least;
}

// C = A B, or C += A B; m, n and k are positive.
NAX_ENGINE void gemm_pairs(PairsUnit unit, std::int64_t m, std::int64_t n, std::int64_t k,
                           Strided<const bfloat16> a, Strided<const bfloat16> b, Strided<bfloat16> c,
                           bool accumulate);

#endif

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END

#if NAX_MULTIPLIES_PAIRS && !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/gemm/gemm_pairs-inl.hpp"
#endif
