#pragma once

#include <cublasLt.h>

#include "nax/devices/cuda/device/card_handles.hpp"
#include "nax/devices/cuda/gemm/blas_status.hpp"

// cuBLASLt's handles: one a thread and card.
NAX_BEGIN
namespace cuda {

struct BlasLt {
  using Handle = cublasLtHandle_t;
  static Handle create() {
    Handle made = nullptr;
    check(cublasLtCreate(&made), "cublasLtCreate");
    return made;
  }
};
using BlasHandles = CardHandles<BlasLt>;

}  // namespace cuda
NAX_END
