#pragma once

#include "nax/data/identity.hpp"

NAX_BEGIN
namespace data::detail {

// Eight lanes of 64 bits; each step of a lane is invertible, so that no single change is lost.
NAX_ENGINE std::uint64_t content_hash(const void* data, std::size_t size) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  const auto mixed = [](std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * odd;
    return state ^ state >> 32;
  };
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, total = size;
  for (; size >= sizeof lanes; size -= sizeof lanes, from += sizeof lanes) {
    std::uint64_t words[8];
    std::memcpy(words, from, sizeof words);
    for (std::size_t k = 0; k < 8; ++k) lanes[k] = mixed(lanes[k], words[k]);
  }
  std::uint64_t rest[8] = {};
  if (size > 0) std::memcpy(rest, from, size);
  for (std::size_t k = 0; k < 8; ++k) total = mixed(total, mixed(lanes[k], rest[k]));
  return total;
}

NAX_ENGINE void describe_files(Fingerprint& print, const std::vector<std::string>& paths) {
  std::vector<std::string> remote;
  for (const std::string& path : paths) {
    print.add(path);
    if (is_remote(path)) {
      remote.push_back(path);
      continue;
    }
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) {
      print.add("missing");
      continue;
    }
    print.add(static_cast<std::int64_t>(status.st_size));
    print.add(static_cast<std::int64_t>(status.st_mtim.tv_sec));
    print.add(static_cast<std::int64_t>(status.st_mtim.tv_nsec));
  }
  if (remote.empty() || !remote_store) return;
  for (const std::string& version : remote_store->versions(remote)) print.add(version);
}

}  // namespace data::detail
NAX_END
