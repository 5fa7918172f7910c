#pragma once

#include <cusolverDn.h>

#include "nax/devices/cuda/device/card_handles.hpp"
#include "nax/devices/cuda/gemm/blas_status.hpp"

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

struct Solver {
  using Handle = cusolverDnHandle_t;
  static Handle create() {
    Handle made = nullptr;
    check(cusolverDnCreate(&made), "cusolverDnCreate");
    return made;
  }
};
using SolverHandles = CardHandles<Solver>;

struct Blas {
  using Handle = cublasHandle_t;
  static Handle create() {
    Handle made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    return made;
  }
};

// Options of cuSOLVER's calls for any type, as they are: those of the calling thread.
class SolverOptions {
 public:
  static cusolverDnParams_t of_this_thread() {
    cusolverDnParams_t& made = detail::per_thread<SolverOptions>().options_;
    if (!made) check(cusolverDnCreateParams(&made), "cusolverDnCreateParams");
    return made;
  }
  ~SolverOptions() {
    if (options_) cusolverDnDestroyParams(options_);
  }

 private:
  cusolverDnParams_t options_ = nullptr;
};

}  // namespace cuda
NAX_END
