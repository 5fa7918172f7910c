#pragma once

#include "nax/parallel/pmap.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<Device> devices_for(std::int64_t size, const DeviceChoice& chosen, bool& everywhere) {
  check_recordable("pmap");
  std::vector<Device> all = chosen.get();
  const std::size_t count = all.size();
  std::erase_if(all, [](Device device) { return device.remote != 0; });
  everywhere = all.size() < count;
  if (all.empty())
    throw ValueError("pmap: devices is empty; leave it out for all devices of the default device's platform");
  if (size == 0) throw ValueError("pmap: the mapped axis has size 0: there is nothing to run on any device");
  if (size > static_cast<std::int64_t>(all.size()))
    raise<ValueError>({"pmap: the mapped axis has size ", size, ", but the number of ",
                       (everywhere ? "this process' devices is " : "devices is "), all.size(), "; see ",
                       on_accelerator(all[0]) ? "NAX_CUDA_DEVICES" : "set_cpu_device_count"});
  check_devices("pmap", all);
  all.resize(static_cast<std::size_t>(size));
  return all;
}

}  // namespace detail
NAX_END
