#pragma once

#include <memory>
#include <mutex>

#include "cuda/runtime/runtime.hpp"
#include "nax/core/abi.hpp"

// The emulated NCCL's operations on the stand-in's streams: asynchronous, as on cards. An operation begins
// after the stream's earlier work; later work waits until the operation's peers have come.
NAX_BEGIN
namespace cuda::emulated_nccl {

inline std::recursive_mutex& world_mutex() { return stand_in::mutex(); }
// Carries out what can be: an operation has been reached.
void progress_all();

using Stream = cudaStream_t;
inline Stream stream_of(cudaStream_t stream) { return stream; }

struct OnStream {
  Stream stream = nullptr;
  bool reached = false;
  std::shared_ptr<stand_in::Gate> gate;

  bool is_first() const { return reached; }
  void leave() { stand_in::open(*gate); }
};
inline void put(const std::shared_ptr<OnStream>& operation) {
  operation->gate = stand_in::put_gate(operation->stream, [operation] {
    operation->reached = true;
    progress_all();
  });
}

}  // namespace cuda::emulated_nccl
NAX_END
