#pragma once

#include <cusolverDn.h>

#include "nax/backend/cuda/blas_status.hpp"
#include "nax/backend/cuda/runtime.hpp"
#include "nax/core/per_thread.hpp"

// Handles of cuSOLVER and of cuBLAS: one of each a thread and card.
NAX_BEGIN
namespace cuda {

constexpr const char* name_of(cusolverStatus_t code) {
  constexpr const char* names[] = {"CUSOLVER_STATUS_SUCCESS",
                                   "CUSOLVER_STATUS_NOT_INITIALIZED",
                                   "CUSOLVER_STATUS_ALLOC_FAILED",
                                   "CUSOLVER_STATUS_INVALID_VALUE",
                                   "CUSOLVER_STATUS_ARCH_MISMATCH",
                                   "CUSOLVER_STATUS_MAPPING_ERROR",
                                   "CUSOLVER_STATUS_EXECUTION_FAILED",
                                   "CUSOLVER_STATUS_INTERNAL_ERROR",
                                   "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                   "CUSOLVER_STATUS_NOT_SUPPORTED"};
  const auto number = static_cast<std::size_t>(code);
  return number < std::size(names) ? names[number] : "CUSOLVER_STATUS";
}

// Throws DeviceError naming the call and the library's code. (cuSOLVER has no texts.)
inline void check(cusolverStatus_t code, const char* call) {
  if (code == CUSOLVER_STATUS_SUCCESS) [[likely]]
    return;
  raise<DeviceError>({call, ": ", name_of(code), " (", std::to_string(static_cast<int>(code)), ")"});
}

class SolverHandles {
 public:
  static cusolverDnHandle_t solver(Device device) {
    cusolverDnHandle_t& handle = detail::per_thread<SolverHandles>().solvers_[card_of(device)];
    if (!handle) check(cusolverDnCreate(&handle), "cusolverDnCreate");
    return handle;
  }
  static cublasHandle_t blas(Device device) {
    cublasHandle_t& handle = detail::per_thread<SolverHandles>().blas_[card_of(device)];
    if (!handle) check(cublasCreate(&handle), "cublasCreate");
    return handle;
  }
  // Options of cuSOLVER's calls for any type, as they are.
  static cusolverDnParams_t options() {
    cusolverDnParams_t& made = detail::per_thread<SolverHandles>().options_;
    if (!made) check(cusolverDnCreateParams(&made), "cusolverDnCreateParams");
    return made;
  }
  // Leaves them where they are when the process ends and the driver has gone before.
  ~SolverHandles() {
    for (int card = 0; card < most_devices; ++card) {
      if (!(solvers_[card] || blas_[card]) || cudaSetDevice(card) != cudaSuccess) continue;
      if (solvers_[card]) cusolverDnDestroy(solvers_[card]);
      if (blas_[card]) cublasDestroy(blas_[card]);
    }
    if (options_) cusolverDnDestroyParams(options_);
  }

 private:
  cusolverDnHandle_t solvers_[most_devices] = {};
  cublasHandle_t blas_[most_devices] = {};
  cusolverDnParams_t options_ = nullptr;
};

}  // namespace cuda
NAX_END
