#pragma once

#include <cublasLt.h>

#include "nax/backend/cuda/blas_status.hpp"
#include "nax/backend/cuda/card_handles.hpp"

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
