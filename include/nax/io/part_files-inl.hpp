#pragma once

#include "nax/io/part_files.hpp"

NAX_BEGIN
namespace io::detail {

// Tells machines that share a folder apart.
inline std::uint32_t host_number() {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : os::host_name()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

NAX_ENGINE std::string part_name(const std::string& path) {
  static std::atomic<std::uint64_t> files{0};
  return path + ".part" + std::to_string(host_number()) + "-" + std::to_string(os::process_id()) + "-" +
         std::to_string(files.fetch_add(1, std::memory_order_relaxed));
}

NAX_ENGINE void sweep_parts(const std::string& folder) {
  std::vector<std::string> names;
  os::names_in(folder, names);
  constexpr std::time_t day = 24 * 60 * 60;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const std::size_t part = name.rfind(".part");
    os::FileStatus status;
    if (part == std::string::npos || !os::status_of(path, status) || status.kind != os::FileKind::file)
      continue;
    unsigned long host = 0;
    long long process = 0;
    const bool named = std::sscanf(name.c_str() + part, ".part%lu-%lld-", &host, &process) == 2;
    const bool ended = named && host == host_number() && process > 0 && os::has_ended(process);
    if (ended || status.seconds + day < std::time(nullptr)) os::remove_file(path);
  }
}

}  // namespace io::detail
NAX_END
