#pragma once

#include "nax/modules/data/identity.hpp"

NAX_BEGIN
namespace data::detail {

inline std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  return state ^ state >> 32;
}

NAX_ENGINE void ContentHash::add(const void* data, std::size_t size) {
  const auto* from = static_cast<const unsigned char*>(data);
  size_ += size;
  std::uint64_t lanes[8];
  std::memcpy(lanes, lanes_, sizeof lanes);
  for (; size >= step; size -= step, from += step) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) {
      std::uint64_t word;
      std::memcpy(&word, from + 8 * k, sizeof word);
      lanes[k] = mixed(lanes[k], word);
    }
  }
  std::memcpy(lanes_, lanes, sizeof lanes);
  if (size > 0) std::memcpy(rest_, from, size);
}

NAX_ENGINE std::uint64_t ContentHash::finish() const {
  std::uint64_t total = size_, rest[8];
  std::memcpy(rest, rest_, sizeof rest);
  for (std::size_t k = 0; k < 8; ++k) total = mixed(total, mixed(lanes_[k], rest[k]));
  return total;
}

NAX_ENGINE std::uint64_t content_hash(const void* data, std::size_t size) {
  ContentHash hash;
  hash.add(data, size);
  return hash.finish();
}

NAX_ENGINE void describe_files(Fingerprint& print, const std::vector<std::string>& paths) {
  std::vector<std::string> remote;
  for (const std::string& path : paths) {
    print.add(path);
    if (io::detail::is_address(path)) {
      remote.push_back(path);
      continue;
    }
    nax::detail::os::FileStatus status;
    if (!nax::detail::os::status_of(path, status)) {
      print.add("missing");
      continue;
    }
    print.add(status.size);
    print.add(status.seconds);
    print.add(status.nanoseconds);
  }
  if (remote.empty() || !io::detail::remote_files) return;
  for (const std::string& version : io::detail::remote_files->versions(remote)) print.add(version);
}

}  // namespace data::detail
NAX_END
