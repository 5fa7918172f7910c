#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/error.hpp"

// Files as bytes, read where they are wanted.
namespace nax::inline NAX_ABI::io {

using Bytes = std::vector<std::uint8_t>;

namespace detail {

[[noreturn, gnu::cold]] inline void fail(const char* function, const std::string& path,
                                         const std::string& what) {
  raise<IoError>({function, ": '", path, "' ", what});
}
[[noreturn, gnu::cold]] inline void fail_system(const char* function, const std::string& path,
                                                const char* what) {
  fail(function, path, std::string(what) + ": " + std::strerror(errno));
}

// Returns the result of f. Sizes that f allocates come from a file, so the file is refused
// where memory ends.
template <class F>
decltype(auto) within_memory(const char* function, const std::string& path, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail(function, path, "needs more memory than there is");
}

// An open file.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// The bytes of a file. Only those that are asked for are read, so that a file costs no more than what its
// reader believes of it. What has no size (a pipe, /proc) is read to its end at once; devices, which have no
// end, are refused.
class Source {
 public:
  Source(const char* function, const std::string& path);
  // Bytes in memory, which must outlive this; `path` is for messages.
  Source(const char* function, const std::string& path, const Bytes& bytes)
      : function_(function), path_(path), data_(bytes.data()), size_(bytes.size()) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const char* function() const { return function_; }
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // The file as the system knows it, for mapping it; none where the bytes lie in memory.
  bool can_be_mapped() const { return !data_ && size_ > 0; }
  int descriptor() const { return file_.get(); }
  [[noreturn, gnu::cold]] void fail(const std::string& what) const { detail::fail(function_, path_, what); }

  // The `size` bytes from offset `at` on. Throws IoError where the file ends before.
  void read(std::uint64_t at, void* to, std::size_t size) const;

 private:
  void read_file(std::uint64_t at, std::uint8_t* out, std::size_t size) const;
  [[noreturn, gnu::cold]] void fail_truncated(std::uint64_t end) const {
    fail("is truncated: it ends at offset " + std::to_string(end));
  }
  void read_to_end();

  const char* function_;
  std::string path_;
  Descriptor file_;
  Bytes owned_;
  const std::uint8_t* data_ = nullptr;  // null: in the file
  std::uint64_t size_ = 0;
  // The last window that was read: headers lie one behind the other.
  mutable std::uint8_t window_[8192];
  mutable std::uint64_t window_at_ = 0;
  mutable std::size_t window_size_ = 0;
};

NAX_ENGINE Bytes read_file(const char* function, const std::string& path);

// Numbers in a file format, of either order of bytes.
template <class T>
T little_endian(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | from[i]);
  return value;
}
inline std::uint32_t big_endian(const std::uint8_t* from) {
  return static_cast<std::uint32_t>(from[0]) << 24 | static_cast<std::uint32_t>(from[1]) << 16 |
         static_cast<std::uint32_t>(from[2]) << 8 | from[3];
}

}  // namespace detail
}  // namespace nax::inline NAX_ABI::io

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::io::detail {

NAX_ENGINE Source::Source(const char* function, const std::string& path) : function_(function), path_(path) {
  file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status;
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0)
    fail_system(function_, path_, "cannot be opened");
  if (S_ISDIR(status.st_mode)) fail("is a folder");
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) fail("is a device, not a file");
  if (S_ISREG(status.st_mode) && status.st_size > 0)
    size_ = static_cast<std::uint64_t>(status.st_size);
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
    const ssize_t got = ::pread(file_.get(), out, size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(function_, path_, "cannot be read");
    if (got == 0) fail_truncated(at);  // somebody cut it meanwhile
    out += got, at += static_cast<std::uint64_t>(got), size -= static_cast<std::size_t>(got);
  }
}

NAX_ENGINE void Source::read_to_end() {
  std::size_t size = 0;
  for (ssize_t got = 1; got != 0; size += static_cast<std::size_t>(got)) {
    if (owned_.size() - size < 1 << 16) owned_.resize(owned_.size() * 2 + (1 << 16));
    do got = ::read(file_.get(), owned_.data() + size, owned_.size() - size);
    while (got < 0 && errno == EINTR);
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

}  // namespace nax::inline NAX_ABI::io::detail
#endif
