#pragma once

#include "nax/io/crc32.hpp"
#include "nax/io/inflate.hpp"
#include "nax/io/unpack.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE bool has_gzip_magic(const Source& source) {
  std::uint8_t magic[3] = {};
  if (source.size() >= 3) source.read(0, magic, 3);
  return magic[0] == 0x1f && magic[1] == 0x8b && magic[2] == 8;  // deflate is the only method there is
}

NAX_ENGINE bool has_zlib_header(const Source& source) {
  std::uint8_t head[2] = {};
  if (source.size() >= 2) source.read(0, head, 2);
  return (head[0] & 15) == 8 && head[0] >> 4 <= 7 && (head[1] & 0x20) == 0 &&
         (head[0] << 8 | head[1]) % 31 == 0;
}

inline std::uint32_t adler32(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t modulus = 65521;
  constexpr std::size_t most = 5552;  // bytes after which the sums still fit 32 bits
  std::uint32_t a = 1, b = 0;
  while (size > 0) {
    const std::size_t n = size < most ? size : most;
    for (std::size_t i = 0; i < n; ++i) a += data[i], b += a;
    a %= modulus, b %= modulus;
    data += n, size -= n;
  }
  return b << 16 | a;
}

// Reads a packed file from its beginning to its end.
class Unpacker {
 public:
  explicit Unpacker(const Source& source) : source_(source) {}

  Bytes gzip() {
    if (!has_gzip_magic(source_)) source_.fail("is not a gzip file");
    while (at_ < source_.size()) {
      const std::uint64_t begin = at_;
      pass_header(begin);
      const std::size_t first = out_.size();
      inflate();
      const std::uint8_t* const tail = take(8);
      const std::size_t size = out_.size() - first;
      if (little_endian<std::uint32_t>(tail) != crc32(out_.data() + first, size) ||
          little_endian<std::uint32_t>(tail + 4) != static_cast<std::uint32_t>(size))
        fail_checksum(begin);
    }
    return std::move(out_);
  }
  Bytes zlib() {
    if (!has_zlib_header(source_)) source_.fail("is not a file packed by zlib");
    take(2);
    inflate();
    if (big_endian(take(4)) != adler32(out_.data(), out_.size())) fail_checksum(0);
    if (at_ != source_.size()) fail_behind_end();
    return std::move(out_);
  }

 private:
  [[noreturn, gnu::cold]] void fail_checksum(std::uint64_t begin) const {
    source_.fail("is damaged: what is packed from offset " + std::to_string(begin) +
                 " on has the wrong length or checksum");
  }
  [[noreturn, gnu::cold]] void fail_behind_end() const {
    source_.fail("has bytes that do not belong to it from offset " + std::to_string(at_));
  }
  // At most 16 bytes.
  const std::uint8_t* take(std::size_t size) {
    if (size > source_.size() - at_)
      source_.fail("is truncated: it ends at offset " + std::to_string(source_.size()));
    source_.read(at_, few_, size);
    at_ += size;
    return few_;
  }
  void pass_header(std::uint64_t begin) {
    enum Flag : std::uint8_t { header_crc = 2, more_fields = 4, name = 8, comment = 16, unknown = 0xe0 };
    const std::uint8_t* const head = take(10);
    const std::uint8_t flags = head[3];
    if (head[0] != 0x1f || head[1] != 0x8b) at_ = begin, fail_behind_end();
    if (head[2] != 8 || flags & unknown)
      source_.fail("is damaged: a header of no known kind, at offset " + std::to_string(begin));
    if (flags & more_fields) {
      const auto size = little_endian<std::uint16_t>(take(2));
      for (int i = 0; i < size; ++i) take(1);
    }
    for (const Flag text : {name, comment})
      if (flags & text)
        while (*take(1) != 0) continue;
    if (flags & header_crc) take(2);
  }
  void inflate() {
    Inflate stream(source_, at_, source_.size(), "");
    std::size_t size = out_.size();
    for (;;) {
      constexpr std::size_t least = 1 << 16;
      out_.resize(std::max(size + least, out_.capacity()));
      const std::size_t got = stream.read(out_.data() + size, out_.size() - size);
      size += got;
      if (size < out_.size()) break;
      out_.reserve(2 * out_.size());
    }
    out_.resize(size);
    at_ = source_.size() - stream.left();
  }

  const Source& source_;
  std::uint64_t at_ = 0;
  std::uint8_t few_[16];
  Bytes out_;
};

NAX_ENGINE Bytes unpack(const Source& source, Compression by) {
  return within_memory(source.function(), source.path(), [&] {
    Unpacker unpacker(source);
    return by == Compression::zlib ? unpacker.zlib() : unpacker.gzip();
  });
}

NAX_ENGINE Bytes read_unpacked(const char* function, const std::string& path) {
  const Source source(function, path);
  if (has_gzip_magic(source)) return unpack(source, Compression::gzip);
  Bytes bytes = within_memory(function, path, [&] { return Bytes(source.size()); });
  source.read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace io::detail
NAX_END
