#pragma once

#include <string>
#include <vector>

#include "nax/core/per_thread.hpp"
#include "nax/parallel/communicator.hpp"
#include "nax/tape/levels.hpp"

// Which axes this thread's program is mapped over, by name: vmaps, whose examples sit in a hidden axis, and
// the pmap, whose examples sit on other devices.
NAX_BEGIN
namespace detail {

struct DeviceAxis {
  std::string name;
  Communicator* communicator = nullptr;
  int index = 0;
  bool leads = true;  // the first of this process' devices
};

inline std::vector<DeviceAxis>& device_axes() { return per_thread<std::vector<DeviceAxis>>(); }

// A mapped axis that a collective names. It may outlive the call, in a derivative that another run of the
// devices computes: so the communicator is that of the run in which it is asked for. (A pmap has no pmap
// inside: there is one.)
struct MappedAxis {
  bool on_devices = false;
  Level level = 0;
  std::int64_t size = 0;
  std::int64_t index = 0;

  Communicator& communicator() const { return *device_axes().back().communicator; }
};

NAX_ENGINE MappedAxis find_axis(const char* function, const std::string& name);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE MappedAxis find_axis(const char* function, const std::string& name) {
  const auto& frames = vmap_stack().frames;
  for (std::size_t i = frames.size(); i-- > 0;)
    if (!name.empty() && frames[i].axis_name == name) return {false, frames[i].level, frames[i].size, 0};
  const auto& devices = device_axes();
  for (std::size_t i = devices.size(); i-- > 0;)
    if (!name.empty() && devices[i].name == name) {
      check_recordable(function);
      return {true, 0, devices[i].communicator->size(), devices[i].index};
    }
  raise<ValueError>(
      {function, ": no mapped axis is named '", name, "' here; give vmap or pmap around it that axis_name"});
}

}  // namespace detail
NAX_END
#endif
