#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>

#include "nax/core/device.hpp"
#include "nax/devices/cuda/device/device_count.hpp"
#include "nax/devices/nccl/emulated/nccl.hpp"

// Streams of emulated GPUs, as far as collectives need them: what is put on a stream begins when all that was
// put there before is done. (Kernels run at once, in the thread that launches them; so does who puts
// collectives on a stream wait for it before the next.)
NAX_BEGIN
namespace cuda::emulated_nccl {

// Guards all streams and communicators.
inline std::mutex& world_mutex() {
  static std::mutex mutex;
  return mutex;
}
// An operation as its stream sees it.
struct OnStream;

}  // namespace cuda::emulated_nccl
NAX_END

struct CUstream_st : std::enable_shared_from_this<CUstream_st> {
  std::deque<std::shared_ptr<nax::cuda::emulated_nccl::OnStream>> queue;
};

NAX_BEGIN
namespace cuda::emulated_nccl {

using Stream = std::shared_ptr<CUstream_st>;
inline Stream stream_of(cudaStream_t stream) { return stream->shared_from_this(); }

struct OnStream {
  Stream stream;

  bool is_first() const { return stream->queue.front().get() == this; }
  void leave() {
    std::erase_if(stream->queue, [this](const auto& other) { return other.get() == this; });
  }
};
inline void put(const std::shared_ptr<OnStream>& operation) { operation->stream->queue.push_back(operation); }

// The calling thread's stream on the device.
inline cudaStream_t stream_of(Device device) {
  static thread_local std::shared_ptr<CUstream_st> mine[most_devices];
  auto& stream = mine[device.ordinal];
  if (!stream) stream = std::make_shared<CUstream_st>();
  return stream.get();
}
inline bool is_done(cudaStream_t stream) {
  const std::lock_guard lock(world_mutex());
  return stream->queue.empty();
}

}  // namespace cuda::emulated_nccl
NAX_END
