#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "nax/backend/cuda/device_count.hpp"
#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"

// A GPU that there is not: memory and kernels are the host's, everything above them is what a GPU gets. It
// lets the whole path be tested anywhere; its arrays are as unreadable for the host's functions as a card's.
namespace nax::cuda {

class EmulatedAccelerator final : public detail::Accelerator {
 public:
  int count() override { return requested_devices().value_or(1); }
  void* allocate(Device device, std::size_t bytes) override {
    void* const memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!memory)
      raise<DeviceError>({"cudaMalloc: no memory for ", bytes, " bytes on ", device, ", which holds ",
                          in_use_.load(), " bytes"});
    const std::size_t now = in_use_ += bytes;
    for (std::size_t peak = peak_; now > peak && !peak_.compare_exchange_weak(peak, now);) {
    }
    ++allocations_;
    return memory;
  }
  void deallocate(Device, void* memory, std::size_t bytes, detail::Streams) noexcept override {
    std::free(memory);
    in_use_ -= bytes;
  }
  // Threads have streams as on a GPU, although nothing is ever left to wait for.
  detail::Streams stream(Device) override {
    static std::atomic<unsigned> threads{0};
    static thread_local const detail::Streams mine = detail::Streams{1} << threads++ % 64;
    return mine;
  }
  void join(Device, detail::Streams) override {}
  void copy_to_device(Device, void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_to_host(Device, void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_between(Device, void* to, Device, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void clear(Device, void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
  void synchronize(Device) override {}
  MemoryStats memory_stats(Device) override {
    return {.in_use = in_use_, .peak = peak_, .cached = 0, .allocations = allocations_, .limit = 0};
  }
  void release_cached_memory(Device) override {}

 private:
  std::atomic<std::size_t> in_use_{0}, peak_{0}, allocations_{0};
};

}  // namespace nax::cuda
