#pragma once

#include "nax/parallel/axis_environment.hpp"

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
