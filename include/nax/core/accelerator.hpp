#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"
#include "nax/core/graph_recording.hpp"

// The seam between arrays and machines whose memory the host does not address. The core knows no such
// machine: a library that brings one (nax::cuda) puts it here before main begins.
NAX_BEGIN

struct MemoryStats;

namespace detail {

// Streams of one device, a bit each.
using Streams = std::uint64_t;

// Work on a device is ordered: each thread has a stream of its own on each device, and every call here
// joins that of the calling thread. Copies from the device have arrived when they return, copies to it have
// read the host's memory.
//
// Between streams the rule is: **a buffer's address is asked for by the thread that will use it, before each
// use and while it holds the buffer.** The buffer knows which streams it has met (Buffer::streams). A stream
// that is new to it first waits for the work given to the others so far. That includes the kernel that wrote
// the elements, since its thread handed the array over afterwards. Only the stream that alone has met a
// buffer may write over its elements (Buffer::is_own), so from then on they never change, and those who have
// met them need not wait again. A freed block's next user waits for all streams that had met it.
//
// A buffer may have a moment of its stream at which its elements were complete (Buffer::note_moment). A new
// stream then waits for that alone, and not for what its thread has launched since.
class Accelerator {
 public:
  virtual int count() = 0;
  // Says why there are none, where count() is 0.
  virtual std::string why_none() { return {}; }
  // Memory aligned to 256 bytes, for the calling thread's stream. Throws DeviceError when there is none.
  virtual void* allocate(Device device, std::size_t bytes) = 0;
  // Kernels of the streams that used it may still run.
  virtual void deallocate(Device device, void* memory, std::size_t bytes, Streams used) noexcept = 0;
  // stream: the calling thread's. join: makes it wait for the work given to `others` so far.
  virtual Streams stream(Device device) = 0;
  virtual void join(Device device, Streams others) = 0;
  // moment: what the calling thread's stream has been given so far; null where nothing keeps it, or is there
  // to wait for. join_moment: makes the thread's stream wait for it.
  virtual void* moment(Device) noexcept { return nullptr; }
  virtual void join_moment(Device, void*) {}
  virtual void drop_moment(Device, void*) noexcept {}
  virtual void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_between(Device to_device, void* to, Device from_device, const void* from,
                            std::size_t bytes) = 0;
  virtual void clear(Device device, void* memory, std::size_t bytes) = 0;  // writes zero bytes
  // Waits for the calling thread's stream.
  virtual void synchronize(Device device) = 0;
  // Behind a wait: throws what kernels have met, an index out of range, once.
  virtual void throw_late_errors(Device) {}
  void wait(Device device) {
    synchronize(device);
    throw_late_errors(device);
  }
  // Waits for the work given to these streams so far. What fails then has failed elsewhere, too.
  void await(Device device, Streams streams) noexcept {
    try {
      join(device, streams);
      synchronize(device);
    } catch (...) {
    }
  }
  // The calling thread's stream as the platform names it: a cudaStream_t.
  virtual void* native_stream(Device) { return nullptr; }
  virtual MemoryStats memory_stats(Device device) = 0;
  virtual void release_cached_memory(Device device) = 0;
  // Records the work given to the calling thread's stream.
  virtual GraphMaker& graphs() = 0;

 protected:
  ~Accelerator() = default;
};

// Counts what may hold arrays besides the host: libraries that bring accelerators, and programs that are
// being recorded.
class AcceleratorsPresent {
 public:
  explicit operator bool() const { return count_.load(std::memory_order_relaxed) != 0; }
  void add(int n) { count_.fetch_add(n, std::memory_order_relaxed); }

 private:
  std::atomic<int> count_{0};
};
// By platform; null where there is none, as for the host.
inline constinit Accelerator* accelerators[platform_count] = {};
inline constinit AcceleratorsPresent accelerators_present;
inline void provide_accelerator(Platform platform, Accelerator& accelerator) {
  accelerators[static_cast<int>(platform)] = &accelerator;
  accelerators_present.add(1);
}

inline bool on_accelerator(Device device) { return device.platform != Platform::cpu; }
inline bool on_program(Device device) { return device.platform == Platform::program; }
// True for a GPU.
inline bool on_card(Device device) { return on_accelerator(device) && !on_program(device); }
// The one of the host's devices that this thread computes on, for what does not go to an accelerator.
inline Device host_device() { return on_accelerator(current_device) ? Device{} : current_device; }
// True if a computation on one device can read the other's memory.
inline bool share_memory(Device a, Device b) { return a == b || (!on_accelerator(a) && !on_accelerator(b)); }
inline Accelerator& accelerator_of(Device device) { return *accelerators[static_cast<int>(device.platform)]; }

// Waits until the calling thread's work on `device` is done. The host's is.
inline void synchronize(Device device) {
  if (on_accelerator(device)) accelerator_of(device).synchronize(device);
}

// Where the memory of an array on `device` is asked for. Throws DeviceError for an array of a program unless
// this thread records one.
inline void check_recording_lasts(Device device) {
  if (on_program(device) && !(graph_recording && on_program(graph_recording->device))) [[unlikely]]
    throw_recording_ended();
}

// A computation that knows only host memory met an array on `device`.
[[noreturn, gnu::cold]] inline void throw_no_device_form(Device device) {
  check_recordable("a function of the host");
  check_recording_lasts(device);
  raise<DeviceError>({"a function that has no form for the GPU got an array on ", device,
                      "; copy it first: device_put(x, devices(\"cpu\")[0])"});
}

[[noreturn, gnu::cold]] inline void throw_no_device_form(const char* function, Device device) {
  check_recordable(function);
  check_recording_lasts(device);
  raise<DeviceError>({function, ": has no form for the GPU yet, and got an array on ", device,
                      "; copy x to the CPU first: device_put(x, devices(\"cpu\")[0])"});
}

}  // namespace detail
NAX_END
