#pragma once

#include "nax/io/crc32.hpp"

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
