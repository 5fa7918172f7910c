#pragma once

#include <cublas_v2.h>

#include <string>

#include "nax/core/error.hpp"

NAX_BEGIN
namespace cuda {

// Throws DeviceError naming the call and the library's code and text.
inline void check(cublasStatus_t code, const char* call) {
  if (code == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  raise<DeviceError>({call, ": ", cublasGetStatusName(code), " (", std::to_string(static_cast<int>(code)),
                      "): ", cublasGetStatusString(code)});
}

}  // namespace cuda
NAX_END
