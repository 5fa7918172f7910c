#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"
#include "nax/devices/cuda/device/device_count.hpp"
#if !defined(NAX_CUDA_EMULATED)
#include "nax/devices/cuda/device/runtime.hpp"
#endif

// Indices out of range that kernels meet: no call waits for them. A kernel writes the first one down in host
// memory, a place for each device, and the next wait for that device by any thread throws it, once.
NAX_BEGIN
namespace cuda {

struct IndexFault {
  const char* function;  // a literal
  std::int64_t index, extent;
  int axis, found;  // found: 1 where there is one

  // For kernels. Threads of one call may meet here: each has the same function, axis and extent. (A template,
  // so that a volatile place is no error in a constexpr function.)
  template <class Fault>
  static constexpr void note(volatile Fault& fault, const char* function, std::int64_t index, int axis,
                             std::int64_t extent) {
    if (fault.found) return;
    fault.function = function;
    fault.index = index;
    fault.axis = axis;
    fault.extent = extent;
    fault.found = 1;
  }
};

// Places are never freed: kernels may run until the process ends.
class IndexFaults {
 public:
  // The device's place. Kernels and the host read and write it.
  static IndexFault* of(Device device) {
    std::atomic<IndexFault*>& place = places()[device.ordinal];
    if (IndexFault* const fault = place.load(std::memory_order_acquire)) return fault;
    const std::lock_guard lock(mutex());
    if (!place.load(std::memory_order_relaxed)) place.store(make(), std::memory_order_release);
    return place.load(std::memory_order_relaxed);
  }
  // Behind a wait for the device: throws IndexError where a kernel has met an index out of range.
  static void check(Device device) {
    volatile IndexFault* const fault = places()[device.ordinal].load(std::memory_order_acquire);
    if (fault && fault->found) [[unlikely]]
      raise_it(device, *fault);
  }

 private:
  static std::atomic<IndexFault*>* places() {
    static std::atomic<IndexFault*> places[most_devices] = {};
    return places;
  }
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static IndexFault* make() {
#if defined(NAX_CUDA_EMULATED)
    return new IndexFault{};
#else
    void* memory = nullptr;
    nax::cuda::check(cudaHostAlloc(&memory, sizeof(IndexFault), cudaHostAllocPortable), "cudaHostAlloc");
    return new (memory) IndexFault{};
#endif
  }
  [[gnu::cold, gnu::noinline]] static void raise_it(Device device, volatile IndexFault& fault) {
    const std::lock_guard lock(mutex());
    if (!fault.found) return;
    const IndexFault met{fault.function, fault.index, fault.extent, fault.axis, 1};
    fault.found = 0;
    raise<IndexError>({met.function, ": index ", met.index, " is out of bounds for axis ", met.axis,
                       " with size ", met.extent, "; found while waiting for ", device,
                       ", with NAX_CHECK_INDICES=1 in the environment the call itself throws"});
  }
};

}  // namespace cuda
NAX_END
