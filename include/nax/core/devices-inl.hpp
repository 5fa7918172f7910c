#pragma once

#include <numeric>

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

NAX_ENGINE Platform platform_named(const std::string& name) {
  const bool present = accelerators[static_cast<int>(Platform::cuda)] != nullptr;
  if (name == "cuda" && present) return Platform::cuda;
  if (name == "cpu") return Platform::cpu;
  raise<ValueError>(
      {"devices: no platform '", name, "' in this program; there is 'cpu'", (present ? " and 'cuda'" : "")});
}

NAX_ENGINE void throw_no_device(const char* function, Platform platform) {
  raise<DeviceError>(
      {function, ": no device of 'cuda': ", accelerators[static_cast<int>(platform)]->why_none()});
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE int local_device_count(const std::string& platform) {
  return detail::device_count(detail::platform_named(platform));
}

NAX_ENGINE int device_count(const std::string& platform) {
  const Platform which = detail::platform_named(platform);
  if (!detail::process_table) return detail::device_count(which);
  const std::vector<int>& counts = detail::process_table->devices[static_cast<int>(which)];
  return std::accumulate(counts.begin(), counts.end(), 0);
}

NAX_ENGINE std::vector<Device> local_devices(const std::string& platform) {
  const Platform which = detail::platform_named(platform);
  std::vector<Device> all;
  for (int i = 0; i < detail::device_count(which); ++i) all.push_back({which, static_cast<std::uint16_t>(i)});
  if (all.empty()) detail::throw_no_device("local_devices", which);
  return all;
}

NAX_ENGINE std::vector<Device> devices(const std::string& platform) {
  const Platform which = detail::platform_named(platform);
  if (device_count(platform) == 0) detail::throw_no_device("devices", which);
  if (!detail::process_table) return local_devices(platform);
  const detail::ProcessTable& table = *detail::process_table;
  const std::vector<int>& counts = table.devices[static_cast<int>(which)];
  std::vector<Device> all;
  for (std::size_t process = 0; process < counts.size(); ++process) {
    const bool own = static_cast<int>(process) == table.index;
    for (int i = 0; i < counts[process]; ++i)
      all.push_back(
          {which, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(own ? 0 : process + 1)});
  }
  return all;
}

NAX_ENGINE void set_default_device(Device device) {
  if (!detail::is_known(device))
    raise<ValueError>({"set_default_device: no device ", device, " in this program"});
  detail::current_device = device;
}

NAX_END
