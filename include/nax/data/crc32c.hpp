#pragma once

#include "nax/io/crc32.hpp"

namespace nax::inline NAX_ABI::data::detail {

// Castagnoli's checksum, of `data`: TFRecord's.
NAX_ENGINE std::uint32_t crc32c(const void* data, std::size_t size);

// As TFRecord files hold it: turned and moved, so that a checksum of bytes with checksums among them is worth
// something.
inline std::uint32_t masked_crc32c(const void* data, std::size_t size) {
  const std::uint32_t crc = crc32c(data, size);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace nax::inline NAX_ABI::data::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

NAX_ENGINE std::uint32_t crc32c(const void* data, std::size_t size) {
  static const auto tables = io::detail::crc_tables<8>(0x82f63b78u);
  const auto* p = static_cast<const std::uint8_t*>(data);
  std::uint32_t crc = ~std::uint32_t{0};
  for (; size >= 8; size -= 8, p += 8) {
    const std::uint32_t low = crc ^ io::detail::little_endian<std::uint32_t>(p),
                        high = io::detail::little_endian<std::uint32_t>(p + 4);
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
          tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
  }
  for (; size > 0; --size) crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
  return ~crc;
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
