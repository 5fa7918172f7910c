#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// NAX_GPU_UNROLL before a loop whose indices must be constants on a GPU: arrays that it indexes stay in
// registers. NAX_GPU_ROLLED before one that must stay a loop, since registers are short.
#if defined(__CUDA_ARCH__)
#define NAX_GPU_UNROLL _Pragma("unroll")
#define NAX_GPU_ROLLED _Pragma("unroll 1")
#else
#define NAX_GPU_UNROLL
#define NAX_GPU_ROLLED
#endif

NAX_BEGIN
namespace cuda {

// Registers of a thread for c += a b of a warp: matrices (16, 16) and (16, 8) of 16-bit elements, and (16, 8)
// of floats, as mma.m16n8k16 has them.
struct MatrixRegisters {
  float* c;
  const std::uint32_t *a, *b;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// The greater or the lesser number, NaN where one is: an instruction that the language has no name for.
template <bool greatest>
constexpr float extreme_or_nan(float a, float b) {
  float best;
  if constexpr (greatest)
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(a), "f"(b));
  else
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(a), "f"(b));
  return best;
}
#endif

}  // namespace cuda
NAX_END
