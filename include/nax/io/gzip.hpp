#pragma once

// zlib behind one function. Not part of nax.hpp: link nax::gzip.
#include <zlib.h>

#include "nax/io/file.hpp"

NAX_BEGIN
namespace io {
namespace detail {

inline bool is_gzip(const Source& source) {
  std::uint8_t magic[2] = {};
  if (source.size() >= 2) source.read(0, magic, 2);
  return magic[0] == 0x1f && magic[1] == 0x8b;
}

// Reads the content of a gzip file in sequence, no further than asked: four megabytes can hold four
// gigabytes.
class GzipReader {
 public:
  explicit GzipReader(const Source& source) : source_(source) {
    if (!is_gzip(source)) source.fail("is not a gzip file");
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) source.fail("cannot be unpacked: zlib cannot be started");
  }
  ~GzipReader() { inflateEnd(&stream_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills `to`; less than `size` only at the end. Throws IoError, naming the offset, for a file that is cut
  // short or damaged (its CRC and length are checked) or has other bytes behind its end.
  std::size_t read(std::uint8_t* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size && (in_member_ || begin_member())) {
      constexpr std::size_t most = 1 << 30;  // zlib counts in 32 bits
      const std::size_t room = size - done < most ? size - done : most;
      if (stream_.avail_in == 0) more_input();
      stream_.next_out = to + done;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END)
        in_member_ = false;
      else if (status != Z_OK && !(status == Z_BUF_ERROR && stream_.avail_in == 0))
        source_.fail("is damaged at offset " + std::to_string(used()) + ": " +
                     (stream_.msg ? stream_.msg : "no valid gzip data"));
    }
    return done;
  }

 private:
  std::uint64_t used() const { return next_ - stream_.avail_in; }

  bool begin_member() {  // a gzip file is one or more of them
    if (used() == source_.size()) return false;
    std::uint8_t magic[2] = {};
    if (source_.size() - used() >= 2) source_.read(used(), magic, 2);
    if (magic[0] != 0x1f || magic[1] != 0x8b)
      source_.fail("has bytes that do not belong to it from offset " + std::to_string(used()));
    inflateReset(&stream_);
    return in_member_ = true;
  }
  void more_input() {
    const std::uint64_t left = source_.size() - next_;
    const std::size_t size = left < sizeof buffer_ ? static_cast<std::size_t>(left) : sizeof buffer_;
    if (size == 0) source_.fail("is truncated: it ends at offset " + std::to_string(source_.size()));
    source_.read(next_, buffer_, size);
    next_ += size;
    stream_.next_in = buffer_;
    stream_.avail_in = static_cast<uInt>(size);
  }

  const Source& source_;
  z_stream stream_{};
  bool in_member_ = false;
  std::uint64_t next_ = 0;  // in the file: what is not in the buffer yet
  std::uint8_t buffer_[1 << 15];
};

}  // namespace detail

// The contents of a gzip file in memory; `path` is for messages. Throws IoError, naming the offset, for one
// that is cut short or damaged (its CRC and length are checked), has other bytes behind its end, or holds
// more than `most` bytes: give the number that you expect where the file is not your own.
inline Bytes gunzip(const Bytes& packed, const std::string& path, std::uint64_t most = UINT64_MAX) {
  return detail::within_memory("gunzip", path, [&] {
    const detail::Source source("gunzip", path, packed);
    detail::GzipReader reader(source);
    Bytes out;
    std::size_t size = 0;
    do {
      out.resize(out.size() * 2 < 1 << 17 ? 1 << 17 : out.size() * 2);
      size += reader.read(out.data() + size, out.size() - size);
      if (size > most) source.fail("holds more than " + std::to_string(most) + " bytes");
    } while (size == out.size());
    out.resize(size);
    return out;
  });
}

}  // namespace io
NAX_END
