#pragma once

#include <algorithm>
#include <vector>

#include "nax/core/array_base.hpp"

// NCCL and the streams it works on: NVIDIA's, or those of emulated GPUs.
#if defined(NAX_CUDA_EMULATED)
#include "nax/devices/nccl/emulated/nccl.hpp"
#include "nax/devices/nccl/emulated/streams.hpp"
#else
#include <nccl.h>

#include "nax/devices/cuda/device/streams.hpp"
#endif

NAX_BEGIN
namespace cuda {

#if defined(NAX_CUDA_EMULATED)
inline namespace emulated_runtime {
// Kernels behind a collective do not wait for the stream by themselves.
inline constexpr bool kernels_follow_streams = false;

inline cudaStream_t stream_for_collectives(Device device) { return emulated_nccl::stream_of(device); }
inline bool is_done(cudaStream_t stream) { return emulated_nccl::is_done(stream); }
inline bool computed(Device) { return true; }
struct CommunicationScope {
  explicit CommunicationScope(Device) {}
};
inline std::uint64_t moment_of(const ArrayBase&) { return 0; }
inline int card_for_collectives(Device device) { return device.ordinal; }
inline bool select_for_collectives(Device) { return true; }
struct StreamWatch {
  virtual void check() = 0;

 protected:
  ~StreamWatch() = default;
};
inline void watch_streams(StreamWatch*) {}

// A place on a stream: has everything before it been done?
class StreamMark {
 public:
  void put(Device, cudaStream_t stream) { stream_ = stream; }
  bool passed() const { return !stream_ || emulated_nccl::is_done(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};
}  // namespace emulated_runtime
#else
inline constexpr bool kernels_follow_streams = true;

inline cudaStream_t stream_for_collectives(Device device) {
  const StreamInUse stream = use(device);
  return stream;
}
inline bool is_done(cudaStream_t stream) {
  const cudaError_t state = cudaStreamQuery(stream);
  if (state == cudaErrorNotReady) return false;
  check(state, "cudaStreamQuery");
  return true;
}
// Whether the calling thread's stream is done.
inline bool computed(Device device) {
  const StreamInUse stream = use(device);
  return is_done(stream);
}
inline std::uint64_t moment_of(const ArrayBase& x) {
  const auto& buffer = detail::ArrayAccess::buffer(x);
  const void* const moment = buffer ? buffer->moment.load(std::memory_order_acquire) : nullptr;
  return moment ? static_cast<const PlaceMark*>(moment)->number : 0;
}
inline int card_for_collectives(Device device) { return card_of(device); }
inline OnCard select_for_collectives(Device device) { return OnCard(device); }
inline void watch_streams(StreamWatch* watch) { stream_watch = watch; }

class StreamMark {
 public:
  StreamMark() = default;
  StreamMark(const StreamMark&) = delete;
  StreamMark& operator=(const StreamMark&) = delete;
  ~StreamMark() {
    if (event_) cudaEventDestroy(event_);
  }
  void put(Device device, cudaStream_t stream) {
    const OnCard on(device);
    if (!event_) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  bool passed() const {
    if (!event_) return true;
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    check(state, "cudaEventQuery");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};
#endif

// The numbers of arrays in the order in which they are complete. What has no moment is complete now.
inline std::vector<std::size_t> order_of_moments(const std::vector<ArrayBase>& arrays) {
  std::vector<std::uint64_t> moments;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::uint64_t moment = moment_of(arrays[i]);
    moments.push_back(moment ? moment : ~std::uint64_t{0});
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return moments[a] < moments[b]; });
  return order;
}

}  // namespace cuda
NAX_END
