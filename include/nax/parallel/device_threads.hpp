#pragma once

#include <string>
#include <vector>

#include "nax/core/device.hpp"
#include "nax/core/function_ref.hpp"

NAX_BEGIN
namespace detail {

inline thread_local constinit bool on_device_thread = false;

// Where a program runs: on these devices, inside the named axis, which may go on in other processes.
struct RunOn {
  const std::vector<Device>& devices;
  const std::string& axis_name;
  bool everywhere = false;
};

// Runs `task(rank)` on each device at once, inside the named axis. What a device throws reaches the caller
// as a DeviceError that names it; the other devices are released from any collective they wait in.
NAX_ENGINE void run_on_devices(const RunOn& where, FunctionRef<void(int rank)> task);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/device_threads-inl.hpp"
#endif
