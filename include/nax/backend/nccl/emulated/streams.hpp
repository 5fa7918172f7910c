#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "nax/backend/cuda/device_count.hpp"
#include "nax/backend/nccl/emulated/nccl.hpp"
#include "nax/core/device.hpp"

// Streams of emulated GPUs, as far as collectives need them: what is put on a stream begins when all that was
// put there before is done. (Kernels run at once, in the thread that launches them; so does who puts
// collectives on a stream wait for it before the next.)
namespace nax::inline NAX_ABI::cuda::emulated_nccl {

// A call of NCCL's, one of a group.
struct Part {
  enum Kind { all_reduce, reduce_scatter, all_gather, broadcast, send, receive } kind;
  const char* from;
  char* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;
  bool done = false;

  bool is_collective() const { return kind != send && kind != receive; }
};
// A group's calls for one communicator: on a GPU one kernel.
struct Operation {
  std::shared_ptr<CUstream_st> stream;
  std::vector<Part> parts;
  bool stuck = false;

  bool done() const {
    for (const Part& part : parts)
      if (!part.done) return false;
    return true;
  }
};

// Guards all streams and communicators.
inline std::mutex& world_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace nax::inline NAX_ABI::cuda::emulated_nccl

struct CUstream_st : std::enable_shared_from_this<CUstream_st> {
  std::deque<std::shared_ptr<nax::cuda::emulated_nccl::Operation>> queue;
};

namespace nax::inline NAX_ABI::cuda::emulated_nccl {

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

}  // namespace nax::inline NAX_ABI::cuda::emulated_nccl
