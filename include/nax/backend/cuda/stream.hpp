#pragma once

#include <cuda_runtime.h>

#include <string>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"

// Devices and streams of the CUDA runtime. Each thread has one stream a device.
//
// NAX_CUDA_DEVICES in the environment asks for more devices than there are cards: the virtual ones share
// them, device i computing on card i modulo their number.
namespace nax::cuda {

// Throws DeviceError naming the call and the runtime's code and text.
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) [[likely]]
    return;
  raise<DeviceError>(
      {call, ": ", cudaGetErrorName(code), " (", static_cast<int>(code), "): ", cudaGetErrorString(code)});
}

inline int card_count() {
  static const int count = [] {
    int n = 0;
    // A machine without a card or a driver has none.
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
      cudaGetLastError();
      n = 0;
    }
    return n;
  }();
  return count;
}
inline int card_of(Device device) { return device.ordinal % card_count(); }

class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (int d = 0; d < most; ++d)
      if (streams_[d]) cudaStreamDestroy(streams_[d]);
  }
  cudaStream_t of(Device device) {
    cudaStream_t& stream = streams_[device.ordinal];
    if (!stream) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  }
  static constexpr int most = 64;

 private:
  cudaStream_t streams_[most] = {};
};

// Makes the device's card current for this thread; the thread's stream there.
inline cudaStream_t use(Device device) {
  static thread_local int current = -1;
  const int card = card_of(device);
  if (current != card) {
    check(cudaSetDevice(card), "cudaSetDevice");
    current = card;
  }
  static thread_local ThreadStreams streams;
  return streams.of(device);
}

}  // namespace nax::cuda
