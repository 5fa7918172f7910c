#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "nax/core/error.hpp"

// Files as bytes: read whole, written so that they are there complete or not at all.
namespace nax::io {

using Bytes = std::vector<std::uint8_t>;

namespace detail {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn, gnu::cold]] inline void fail(const char* function, const std::string& path,
                                         const std::string& what) {
  raise<IoError>({function, ": '", path, "' ", what});
}
[[noreturn, gnu::cold]] inline void fail_system(const char* function, const std::string& path,
                                                const char* what) {
  fail(function, path, std::string(what) + ": " + std::strerror(errno));
}

inline Bytes read_file(const char* function, const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_system(function, path, "cannot be opened");
  Bytes bytes;
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0; size += got) {
    bytes.resize(size < 1 << 16 ? 1 << 16 : size * 2);
    got = std::fread(bytes.data() + size, 1, bytes.size() - size, file.get());
  }
  if (std::ferror(file.get())) fail_system(function, path, "cannot be read");
  bytes.resize(size);
  return bytes;
}

// A file under a name of its own until commit() gives it the real one; without commit() it disappears.
class NewFile {
 public:
  NewFile(const char* function, std::string path)
      : function_(function),
        path_(std::move(path)),
        temporary_(path_ + ".part" + std::to_string(::getpid())) {
    file_.reset(std::fopen(temporary_.c_str(), "wb"));
    if (!file_) fail_system(function_, path_, "cannot be written");
  }
  ~NewFile() {
    file_.reset();
    if (!committed_) std::remove(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, std::size_t size) {
    if (size > 0 && std::fwrite(data, 1, size, file_.get()) != size)
      fail_system(function_, path_, "cannot be written");
    position_ += size;
  }
  std::uint64_t position() const { return position_; }
  void commit() {
    const bool flushed = std::fflush(file_.get()) == 0 && ::fsync(::fileno(file_.get())) == 0;
    if (!flushed || std::fclose(file_.release()) != 0) fail_system(function_, path_, "cannot be written");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      fail_system(function_, path_, "cannot be replaced");
    committed_ = true;
  }

 private:
  const char* function_;
  std::string path_, temporary_;
  File file_;
  std::uint64_t position_ = 0;
  bool committed_ = false;
};

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
}  // namespace nax::io
