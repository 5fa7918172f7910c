#pragma once

// zlib behind one function. Not part of nax.hpp: link nax::gzip.
#include <zlib.h>

#include "nax/io/file.hpp"

namespace nax::io {
namespace detail {

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw IoError("gunzip: zlib cannot be started");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

inline bool is_gzip(const Bytes& bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

}  // namespace detail

// The contents of a gzip file in memory; `path` is for messages. Throws IoError, naming the offset, for one
// that is cut short or damaged (its CRC and length are checked) or has other bytes behind its end.
inline Bytes gunzip(const Bytes& packed, const std::string& path) {
  if (!detail::is_gzip(packed)) detail::fail("gunzip", path, "is not a gzip file");
  Bytes out;
  std::size_t used = 0, size = 0;
  while (used < packed.size()) {  // a gzip file is one or more members
    if (packed.size() - used < 2 || packed[used] != 0x1f || packed[used + 1] != 0x8b)
      detail::fail("gunzip", path, "has bytes that do not belong to it from offset " + std::to_string(used));
    detail::Inflater inflater;
    z_stream& z = inflater.stream;
    int status = Z_OK;
    while (status == Z_OK) {
      if (out.size() - size < 1 << 15) out.resize(out.size() * 2 < 1 << 17 ? 1 << 17 : out.size() * 2);
      constexpr std::size_t most = 1 << 30;  // zlib counts in 32 bits
      const std::size_t room = out.size() - size < most ? out.size() - size : most;
      const std::size_t rest = packed.size() - used < most ? packed.size() - used : most;
      z.next_in = const_cast<Bytef*>(packed.data() + used);
      z.avail_in = static_cast<uInt>(rest);
      z.next_out = out.data() + size;
      z.avail_out = static_cast<uInt>(room);
      status = inflate(&z, Z_NO_FLUSH);
      used += rest - z.avail_in;
      size += room - z.avail_out;
    }
    if (status == Z_BUF_ERROR)
      detail::fail("gunzip", path, "is truncated: it ends at offset " + std::to_string(packed.size()));
    if (status != Z_STREAM_END)
      detail::fail(
          "gunzip", path,
          "is damaged at offset " + std::to_string(used) + ": " + (z.msg ? z.msg : "no valid gzip data"));
  }
  out.resize(size);
  return out;
}

}  // namespace nax::io
