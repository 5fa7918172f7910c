#pragma once

#include <cstddef>
#include <string>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"

// The seam between arrays and machines whose memory the host does not address. The core knows no such
// machine: a library that brings one (nax::cuda) puts it here before main begins.
namespace nax {

struct MemoryStats;

namespace detail {

// What a device does is ordered: each thread has a stream of its own on each device, and every call here
// joins that of the calling thread. Copies from the device have arrived when they return.
class Accelerator {
 public:
  virtual int count() = 0;
  // Memory aligned to 256 bytes, for use on the calling thread's stream. Throws DeviceError when there is
  // none.
  virtual void* allocate(Device device, std::size_t bytes) = 0;
  virtual void deallocate(Device device, void* memory, std::size_t bytes) noexcept = 0;
  virtual void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_between(Device to_device, void* to, Device from_device, const void* from,
                            std::size_t bytes) = 0;
  virtual void clear(Device device, void* memory, std::size_t bytes) = 0;  // writes zero bytes
  // Waits for the calling thread's stream.
  virtual void synchronize(Device device) = 0;
  virtual MemoryStats memory_stats(Device device) = 0;
  virtual void release_cached_memory() = 0;

 protected:
  ~Accelerator() = default;
};

inline constinit Accelerator* cuda_accelerator = nullptr;

inline bool on_accelerator(Device device) { return device.platform != Platform::cpu; }
inline Accelerator& accelerator_of(Device) { return *cuda_accelerator; }

// A computation that knows only host memory met an array on `device`.
[[noreturn, gnu::cold]] inline void throw_no_device_form(Device device) {
  raise<DeviceError>({"a function that has no form for the GPU got an array on ", device,
                      "; copy it first: device_put(x, devices(\"cpu\")[0])"});
}

[[noreturn, gnu::cold]] inline void throw_no_device_form(const char* function, Device device) {
  raise<DeviceError>({function, ": has no form for the GPU yet, and got an array on ", device,
                      "; copy x to the CPU first: device_put(x, devices(\"cpu\")[0])"});
}

}  // namespace detail
}  // namespace nax
