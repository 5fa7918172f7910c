#pragma once

#include <cstring>
#include <mutex>

#include "nax/devices/cuda/device/runtime.hpp"

// Page-locked memory through which a stream exchanges elements with the host: the driver copies from there
// while the host goes on.
//
// There are two halves. Uploads fill one after the other; a half is written again when the stream has passed
// the event that was recorded as the half was left. So a small upload costs a memcpy and an asynchronous
// copy, and never waits for kernels. A download alternates between the halves, the stream one piece ahead of
// the host; when it ends the stream has passed all uploads, too.
NAX_BEGIN
namespace cuda {

class Staging {
 public:
  static constexpr std::size_t half_bytes = std::size_t{2} << 20;

  // The host memory has been read when this returns.
  void upload(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    for (std::size_t done = 0; done < bytes;) {
      if (used_ == half_bytes) turn(stream);
      const std::size_t some = std::min(bytes - done, half_bytes - used_);
      char* const at = half(now_) + used_;
      std::memcpy(at, static_cast<const char*>(from) + done, some);
      check(cudaMemcpyAsync(static_cast<char*>(to) + done, at, some, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
      used_ = std::min(half_bytes, (used_ + some + 63) / 64 * 64);
      done += some;
    }
  }

  // The elements have arrived when this returns.
  void download(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    const auto piece = [&](std::size_t i) { return std::min(half_bytes, bytes - i * half_bytes); };
    const auto fetch = [&](std::size_t i) {
      check(cudaMemcpyAsync(half(i % 2), static_cast<const char*>(from) + i * half_bytes, piece(i),
                            cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
      check(cudaEventRecord(left_[i % 2], stream), "cudaEventRecord");
    };
    const std::size_t pieces = (bytes + half_bytes - 1) / half_bytes;
    if (pieces > 0) fetch(0);
    for (std::size_t i = 0; i < pieces; ++i) {
      if (i + 1 < pieces) fetch(i + 1);
      check(cudaEventSynchronize(left_[i % 2]), "cudaEventSynchronize");
      std::memcpy(static_cast<char*>(to) + i * half_bytes, half(i % 2), piece(i));
    }
    if (pieces > 0) used_ = 0;
  }

  // The card is the thread's current one; nothing uses the memory any more. What the driver says does not
  // matter: the process may be ending, and the driver be gone.
  void release() noexcept {
    for (cudaEvent_t& event : left_)
      if (event) cudaEventDestroy(std::exchange(event, nullptr));
    if (memory_) cudaFreeHost(std::exchange(memory_, nullptr));
    used_ = 0;
  }

 private:
  char* half(std::size_t which) const { return memory_ + which * half_bytes; }
  void prepare() {
    if (memory_) return;
    for (cudaEvent_t& event : left_)
      if (!event) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, 2 * half_bytes, cudaHostAllocPortable), "cudaHostAlloc");
    memory_ = static_cast<char*>(memory);
  }
  void turn(cudaStream_t stream) {
    check(cudaEventRecord(left_[now_], stream), "cudaEventRecord");
    now_ ^= 1;
    check(cudaEventSynchronize(left_[now_]), "cudaEventSynchronize");
    used_ = 0;
  }

  std::mutex mutex_;  // streams may be shared by threads
  char* memory_ = nullptr;
  cudaEvent_t left_[2] = {};
  std::size_t now_ = 0, used_ = 0;
};

}  // namespace cuda
NAX_END
