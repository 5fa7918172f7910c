#pragma once

#include <cudnn.h>

#include <memory>

#include "nax/devices/cuda/device/card_handles.hpp"

// cuDNN's handles, one a thread and card, and its descriptors as owning pointers.
NAX_BEGIN
namespace cudnn {

// Throws DeviceError naming the call and the library's code and text.
inline void check(cudnnStatus_t code, const char* call) {
  if (code == CUDNN_STATUS_SUCCESS) [[likely]]
    return;
  raise<DeviceError>(
      {call, ": ", cudnnGetErrorString(code), " (", std::to_string(static_cast<int>(code)), ")"});
}
// cuDNN 9 numbers the reasons for which it lacks a kernel from 3000 on.
inline bool lacks_kernel(cudnnStatus_t code) {
  return code >= CUDNN_STATUS_NOT_SUPPORTED && code < CUDNN_STATUS_NOT_SUPPORTED + 1000;
}

struct Library {
  using Handle = cudnnHandle_t;
  static Handle create() {
    Handle made = nullptr;
    check(cudnnCreate(&made), "cudnnCreate");
    return made;
  }
};
using Handles = cuda::CardHandles<Library>;

template <auto destroy>
struct Destroy {
  void operator()(auto* descriptor) const { destroy(descriptor); }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

using Tensor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using Filter = Owned<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using Convolution = Owned<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;

inline Tensor make_tensor() {
  cudnnTensorDescriptor_t made = nullptr;
  check(cudnnCreateTensorDescriptor(&made), "cudnnCreateTensorDescriptor");
  return Tensor(made);
}
inline Filter make_filter() {
  cudnnFilterDescriptor_t made = nullptr;
  check(cudnnCreateFilterDescriptor(&made), "cudnnCreateFilterDescriptor");
  return Filter(made);
}
inline Convolution make_convolution() {
  cudnnConvolutionDescriptor_t made = nullptr;
  check(cudnnCreateConvolutionDescriptor(&made), "cudnnCreateConvolutionDescriptor");
  return Convolution(made);
}

}  // namespace cudnn
NAX_END
