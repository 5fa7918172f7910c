#pragma once

#include <cublasLt.h>

#include "nax/backend/cuda/blas_status.hpp"
#include "nax/backend/cuda/runtime.hpp"
#include "nax/core/per_thread.hpp"

// cuBLASLt's handles: one a thread and card.
NAX_BEGIN
namespace cuda {

class BlasHandles {
 public:
  static cublasLtHandle_t of(Device device) {
    cublasLtHandle_t& handle = detail::per_thread<BlasHandles>().handles_[card_of(device)];
    if (!handle) check(cublasLtCreate(&handle), "cublasLtCreate");
    return handle;
  }
  // Leaves them where they are when the process ends and the driver has gone before.
  ~BlasHandles() {
    for (int card = 0; card < most_devices; ++card)
      if (handles_[card] && cudaSetDevice(card) == cudaSuccess) cublasLtDestroy(handles_[card]);
  }

 private:
  cublasLtHandle_t handles_[most_devices] = {};
};

}  // namespace cuda
NAX_END
