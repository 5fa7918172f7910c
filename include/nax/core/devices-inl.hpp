#pragma once

#include "nax/core/devices.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE DeviceRegistry::DeviceRegistry() {
  if (const char* text = std::getenv("NAX_CPU_DEVICES")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end == text || *end != '\0') raise<ValueError>({"NAX_CPU_DEVICES: not a number: '", text, "'"});
    check(count, "NAX_CPU_DEVICES: the count");
    count_ = static_cast<int>(count);
  }
}

NAX_ENGINE void check_devices(const char* function, const std::vector<Device>& devices) {
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (!is_known(*device)) raise<ValueError>({function, ": no device ", *device, " in this program"});
    if (std::find(devices.begin(), device, *device) != device)
      raise<ValueError>({function, ": device ", *device, " is named twice"});
  }
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE std::vector<Device> local_devices(const std::string& platform) {
  const bool present = detail::accelerators[static_cast<int>(Platform::cuda)] != nullptr;
  const bool cuda = platform == "cuda" && present;
  if (platform != "cpu" && !cuda)
    raise<ValueError>({"devices: no platform '", platform, "' in this program; there is 'cpu'",
                       (present ? " and 'cuda'" : "")});
  const Platform which = cuda ? Platform::cuda : Platform::cpu;
  std::vector<Device> all;
  for (int i = 0; i < detail::device_count(which); ++i) all.push_back({which, static_cast<std::uint16_t>(i)});
  return all;
}

NAX_ENGINE std::vector<Device> devices(const std::string& platform) {
  std::vector<Device> own = local_devices(platform), all;
  if (!detail::process_table) return own;
  const detail::ProcessTable& table = *detail::process_table;
  const Platform which = platform == "cuda" ? Platform::cuda : Platform::cpu;
  const std::vector<int>& counts = table.devices[static_cast<int>(which)];
  for (std::size_t process = 0; process < counts.size(); ++process)
    for (int i = 0; i < counts[process]; ++i)
      all.push_back(
          static_cast<int>(process) == table.index
              ? own[static_cast<std::size_t>(i)]
              : Device{which, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(process + 1)});
  return all;
}

NAX_ENGINE void set_default_device(Device device) {
  if (!detail::is_known(device))
    raise<ValueError>({"set_default_device: no device ", device, " in this program"});
  detail::current_device = device;
}

NAX_END
