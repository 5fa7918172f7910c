#pragma once

#include "nax/io/file.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE Source::Source(const char* function, const std::string& path) : function_(function), path_(path) {
  if (is_address(path)) {
    owned_ = need_remote_files(function, path).read(path);
    data_ = owned_.data();
    size_ = owned_.size();
    return;
  }
  file_ = Descriptor(os::open_file(path, os::Open::to_read));
  os::FileStatus status;
  if (file_.get() < 0 || !os::status_of(file_.get(), status))
    fail_system(function_, path_, "cannot be opened");
  if (status.kind == os::FileKind::folder) fail("is a folder");
  if (status.kind == os::FileKind::device) fail("is a device, not a file");
  if (status.kind == os::FileKind::file && status.size > 0)
    size_ = static_cast<std::uint64_t>(status.size);
  else
    read_to_end();
}

NAX_ENGINE void Source::read(std::uint64_t at, void* to, std::size_t size) const {
  if (at > size_ || size > size_ - at) fail_truncated(size_);
  if (data_) {
    if (size > 0) std::memcpy(to, data_ + at, size);
    return;
  }
  if (size > sizeof window_ / 4) return read_file(at, static_cast<std::uint8_t*>(to), size);
  if (at < window_at_ || at - window_at_ > window_size_ || size > window_size_ - (at - window_at_)) {
    const std::uint64_t rest = size_ - at;
    const std::size_t n = rest < sizeof window_ ? static_cast<std::size_t>(rest) : sizeof window_;
    window_size_ = 0;  // should the file fail
    read_file(at, window_, n);
    window_at_ = at;
    window_size_ = n;
  }
  if (size > 0) std::memcpy(to, window_ + (at - window_at_), size);
}

NAX_ENGINE void Source::read_file(std::uint64_t at, std::uint8_t* out, std::size_t size) const {
  while (size > 0) {
    const std::int64_t got = os::read_some_at(file_.get(), out, size, at);
    if (got < 0) fail_system(function_, path_, "cannot be read");
    if (got == 0) fail_truncated(at);  // the file was truncated meanwhile
    out += got, at += static_cast<std::uint64_t>(got), size -= static_cast<std::size_t>(got);
  }
}

NAX_ENGINE void Source::read_to_end() {
  std::size_t size = 0;
  for (std::int64_t got = 1; got != 0; size += static_cast<std::size_t>(got)) {
    if (owned_.size() - size < 1 << 16) owned_.resize(owned_.size() * 2 + (1 << 16));
    got = os::read_some(file_.get(), owned_.data() + size, owned_.size() - size);
    if (got < 0) fail_system(function_, path_, "cannot be read");
  }
  data_ = owned_.data();
  size_ = size;
}

NAX_ENGINE Bytes read_file(const char* function, const std::string& path) {
  const Source source(function, path);
  Bytes bytes(source.size());
  source.read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace io::detail
NAX_END
