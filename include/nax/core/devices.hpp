#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "nax/core/accelerator.hpp"
#include "nax/core/device.hpp"
#include "nax/core/error.hpp"

// Devices: groups of CPU cores, as many as set_cpu_device_count or NAX_CPU_DEVICES says
// (one by default), all of which share the host's memory; and, in programs that link nax::cuda, GPUs.
NAX_BEGIN
namespace detail {

inline constexpr int most_cpu_devices = 256;

class DeviceRegistry {
 public:
  static DeviceRegistry& instance() {
    static DeviceRegistry registry;
    return registry;
  }
  // Reading the count settles it.
  int cpu_count() {
    used_.store(true, std::memory_order_relaxed);
    return count_.load(std::memory_order_relaxed);
  }
  void set_cpu_count(int count) {
    check(count, "set_cpu_device_count: the count");
    if (used_.load(std::memory_order_relaxed))
      throw ValueError(
          "set_cpu_device_count: the devices are already in use; call it before anything asks for them");
    count_.store(count, std::memory_order_relaxed);
  }

 private:
  DeviceRegistry();
  static void check(long count, const char* what) {
    if (count < 1 || count > most_cpu_devices)
      raise<ValueError>({what, " must be between 1 and ", most_cpu_devices, ", not ", count});
  }
  std::atomic<int> count_{1};
  std::atomic<bool> used_{false};
};

}  // namespace detail

// Splits the CPU into `count` devices, each with its share of the threads. Before the first use of devices
// only: throws ValueError afterwards.
inline void set_cpu_device_count(int count) { detail::DeviceRegistry::instance().set_cpu_count(count); }

namespace detail {
inline int device_count(Platform platform) {
  if (platform == Platform::cpu) return DeviceRegistry::instance().cpu_count();
  Accelerator* const accelerator = accelerators[static_cast<int>(platform)];
  return accelerator ? accelerator->count() : 0;
}
inline const char* current_platform() { return current_device.platform == Platform::cuda ? "cuda" : "cpu"; }
inline bool is_known(Device device) {
  if (on_program(device)) return graph_recording && graph_recording->device == device;
  return device.remote == 0 && device.ordinal < device_count(device.platform);
}

// Where a program is several processes: which of them this is, and how many devices of a platform each has.
struct ProcessTable {
  int index = 0;
  std::vector<int> devices[platform_count];
};
inline constinit const ProcessTable* process_table = nullptr;

// Throws ValueError, on behalf of `function`, where this program has not one of the devices, or one is named
// twice.
NAX_ENGINE void check_devices(const char* function, const std::vector<Device>& devices);
// Throws ValueError for a platform that this program does not know.
NAX_ENGINE Platform platform_named(const std::string& name);
// Throws DeviceError with the accelerator's reason.
[[noreturn, gnu::cold]] NAX_ENGINE void throw_no_device(const char* function, Platform platform);
}  // namespace detail

// The devices of a platform, "cpu" or "cuda", that belong to this process; of the default device's platform
// where none is named. At least one: throws DeviceError, with the reason, where there is none. Throws
// ValueError for a platform that this program does not know, as for "cuda" where nax::cuda is not linked.
NAX_ENGINE std::vector<Device> local_devices(const std::string& platform = detail::current_platform());
// Devices of all processes, one process after another. (A program is one process unless
// distributed::initialize has found others.) Throws as local_devices does, where no process has one.
NAX_ENGINE std::vector<Device> devices(const std::string& platform = detail::current_platform());
// How many devices this process has, of the platform: 0 for "cuda" on a machine without a card. Throws
// ValueError for a platform that this program does not know.
NAX_ENGINE int local_device_count(const std::string& platform = detail::current_platform());
// How many devices all processes have, of the platform. Throws as local_device_count does.
NAX_ENGINE int device_count(const std::string& platform = detail::current_platform());

// Returns the device on which this thread creates arrays. (A computation runs on the device of its operands.)
inline Device default_device() { return detail::current_device; }
// Returns its platform: "cpu" or "cuda".
inline std::string default_backend() { return detail::current_platform(); }
// Sets the device on which this thread creates arrays. Throws ValueError for a device the program lacks.
NAX_ENGINE void set_default_device(Device device);

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/devices-inl.hpp"
#endif
