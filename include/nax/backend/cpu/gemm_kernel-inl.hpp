#pragma once

#include "nax/backend/cpu/gemm_kernel.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE int next_height(std::int64_t left, bool packed) {
  const std::int64_t panels = (left + tile_rows - 1) / tile_rows;
  const int height = kernel_height(static_cast<int>((left + panels - 1) / panels));
  return height > left && !packed ? height - 2 : height;
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
