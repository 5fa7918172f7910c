#pragma once

#include <array>

#include "nax/io/file.hpp"

NAX_BEGIN
namespace io::detail {

// For checksums that take so many bytes at a time: tables[k][b] is what byte b with k zeros behind it adds.
template <std::size_t bytes>
std::array<std::array<std::uint32_t, 256>, bytes> crc_tables(std::uint32_t polynomial) {
  std::array<std::array<std::uint32_t, 256>, bytes> t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? polynomial : 0);
    t[0][i] = c;
  }
  for (std::uint32_t i = 0; i < 256; ++i)
    for (std::size_t k = 1; k < bytes; ++k) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
  return t;
}

// The checksum of zip and gzip files, of `data` behind what `crc` is of.
NAX_ENGINE std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t crc = 0);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t crc) {
  static const auto tables = crc_tables<4>(0xedb88320u);
  const auto* p = static_cast<const std::uint8_t*>(data);
  crc = ~crc;
  for (; size >= 4; size -= 4, p += 4) {
    crc ^= little_endian<std::uint32_t>(p);
    crc = tables[3][crc & 0xff] ^ tables[2][crc >> 8 & 0xff] ^ tables[1][crc >> 16 & 0xff] ^
          tables[0][crc >> 24];
  }
  for (; size > 0; --size) crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
  return ~crc;
}

}  // namespace io::detail
NAX_END
#endif
