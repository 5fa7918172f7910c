#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "nax/backend/cuda/device_count.hpp"
#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"

// A GPU that there is not: memory and kernels are the host's, everything above them is what a GPU gets. It
// lets the whole path be tested anywhere, up to the end of its memory; its arrays are as unreadable for the
// host's functions as a card's.
namespace nax::inline NAX_ABI::cuda {

class EmulatedAccelerator final : public detail::Accelerator {
 public:
  int count() override { return requested_devices().value_or(1); }
  void* allocate(Device device, std::size_t bytes) override {
    Memory& memory = memory_[device.ordinal];
    const std::size_t held = memory.in_use;
    void* const place = bytes <= card_bytes - std::min(held, card_bytes)
                            ? std::aligned_alloc(256, (bytes + 256) / 256 * 256)
                            : nullptr;
    if (!place)
      raise<DeviceError>(
          {"cudaMalloc: no memory for ", bytes, " bytes on ", device, ": arrays hold ", held, " bytes"});
    const std::size_t now = memory.in_use += bytes;
    for (std::size_t peak = memory.peak; now > peak && !memory.peak.compare_exchange_weak(peak, now);) {
    }
    ++memory.allocations;
    return place;
  }
  void deallocate(Device device, void* place, std::size_t bytes, detail::Streams) noexcept override {
    std::free(place);
    memory_[device.ordinal].in_use -= bytes;
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
  MemoryStats memory_stats(Device device) override {
    const Memory& memory = memory_[device.ordinal];
    return {.in_use = memory.in_use,
            .peak = memory.peak,
            .cached = 0,
            .allocations = memory.allocations,
            .limit = card_bytes};
  }
  void release_cached_memory(Device) override {}

 private:
  static constexpr std::size_t card_bytes = std::size_t{64} << 30;
  struct Memory {
    std::atomic<std::size_t> in_use{0}, peak{0}, allocations{0};
  };
  Memory memory_[most_devices];
};

}  // namespace nax::inline NAX_ABI::cuda
