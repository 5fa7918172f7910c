#pragma once

#include "nax/io/part_files.hpp"

NAX_BEGIN
namespace io::detail {

// Tells machines that share a folder apart.
inline std::uint32_t host_number() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char* c = name; *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  return hash;
}

NAX_ENGINE std::string part_name(const std::string& path) {
  static std::atomic<std::uint64_t> files{0};
  return path + ".part" + std::to_string(host_number()) + "-" + std::to_string(::getpid()) + "-" +
         std::to_string(files.fetch_add(1, std::memory_order_relaxed));
}

NAX_ENGINE void sweep_parts(const std::string& folder) {
  DIR* const opened = ::opendir(folder.c_str());
  if (!opened) return;
  constexpr std::time_t day = 24 * 60 * 60;
  while (const dirent* entry = ::readdir(opened)) {
    const std::string name = entry->d_name, path = folder + "/" + name;
    const std::size_t part = name.rfind(".part");
    struct stat status;
    if (part == std::string::npos || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    unsigned long host = 0;
    long process = 0;
    const bool named = std::sscanf(name.c_str() + part, ".part%lu-%ld-", &host, &process) == 2;
    const bool ended = named && host == host_number() && process > 0 &&
                       ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    if (ended || status.st_mtime + day < std::time(nullptr)) ::unlink(path.c_str());
  }
  ::closedir(opened);
}

}  // namespace io::detail
NAX_END
