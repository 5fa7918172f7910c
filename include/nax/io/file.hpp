#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/core/os/os.hpp"
#include "nax/io/remote.hpp"

// Files as bytes, read where they are wanted.
NAX_BEGIN
namespace io {
namespace detail {
namespace os = nax::detail::os;

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
  bool close() { return fd_ < 0 || os::close_file(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// The bytes of a file. Only those that are asked for are read, so that a file costs no more than what its
// reader believes of it. What has no size (a pipe, /proc) is read to its end at once; devices, which have no
// end, are refused.
class Source {
 public:
  // An address (s3://bucket/key) is read as a whole where the program links nax::storage.
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

// All bytes of a file or an object. Throws IoError that names it.
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
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/file-inl.hpp"
#endif
