#pragma once

#include "nax/modules/data/cache_folder.hpp"

NAX_BEGIN
namespace data::detail {
namespace os = nax::detail::os;

NAX_ENGINE CacheFolder::CacheFolder(std::string folder, std::uint64_t print)
    : named_(std::move(folder)), folder_(named_), print_(print) {
  io::detail::check_local_folder("cache", named_);
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx", static_cast<unsigned long long>(print));
  folder_ += name;
  if ((errno = io::detail::make_folders(folder_)) != 0)
    io::detail::fail_system("cache", named_, "cannot be made");
  io::detail::sweep_parts(folder_);
}

NAX_ENGINE bool CacheFolder::read(std::int64_t i, io::Bytes& bytes) const {
  const std::string path = path_of(i);
  const io::detail::Descriptor file(os::open_file(path, os::Open::to_read));
  os::FileStatus status;
  if (file.get() < 0 || !os::status_of(file.get(), status) || status.kind != os::FileKind::file) return false;
  const auto size = static_cast<std::size_t>(status.size);
  if (size < header_bytes) return false;
  bytes.resize(size);
  for (std::size_t done = 0; done < size;) {
    const std::int64_t got = os::read_some(file.get(), bytes.data() + done, size - done);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  io::Bytes expected;
  header(expected, i, bytes.data() + header_bytes, size - header_bytes);
  return std::memcmp(bytes.data(), expected.data(), header_bytes) == 0;
}

NAX_ENGINE void CacheFolder::write(std::int64_t i, const io::Bytes& element) {
  if (full_.load(std::memory_order_relaxed)) return;
  io::Bytes start;
  header(start, i, element.data(), element.size());
  const std::string path = path_of(i);
  const std::string temporary = io::detail::part_name(path);
  io::detail::Descriptor file(os::open_file(temporary, os::Open::to_overwrite));
  const bool written = file.get() >= 0 && put(file.get(), start) && put(file.get(), element) &&
                       file.close() && os::replace_file(temporary, path);
  if (written) return;
  const std::string why = std::strerror(errno);
  file.close();
  os::remove_file(temporary);
  if (!full_.exchange(true))
    std::fprintf(stderr, "cache: '%s' cannot be written to: %s; the loop goes on without it\n",
                 named_.c_str(), why.c_str());
}

NAX_ENGINE void CacheFolder::header(io::Bytes& out, std::int64_t i, const std::uint8_t* data,
                                    std::size_t size) const {
  const std::uint32_t crc = io::detail::crc32(data, size);
  const auto short_size = static_cast<std::uint32_t>(size);
  out.resize(header_bytes);
  std::memcpy(out.data(), "naxdata1", 8);
  std::memcpy(out.data() + 8, &print_, 8);
  std::memcpy(out.data() + 16, &i, 8);
  std::memcpy(out.data() + 24, &short_size, 4);
  std::memcpy(out.data() + 28, &crc, 4);
}

NAX_ENGINE bool CacheFolder::put(int file, const io::Bytes& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::int64_t put = os::write_some(file, bytes.data() + done, bytes.size() - done);
    if (put < 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace data::detail
NAX_END
