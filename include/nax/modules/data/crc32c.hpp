#pragma once

#include "nax/io/crc32.hpp"

NAX_BEGIN
namespace data::detail {

// Castagnoli's checksum, of `data`: TFRecord's. By the processor's instruction where it has one, which is
// seen at run time.
NAX_ENGINE std::uint32_t crc32c(const void* data, std::size_t size);
// By tables, on any processor.
NAX_ENGINE std::uint32_t crc32c_by_tables(const void* data, std::size_t size);

// As TFRecord files hold it: turned and moved, so that a checksum of bytes with checksums among them is worth
// something.
inline std::uint32_t masked_crc32c(const void* data, std::size_t size) {
  const std::uint32_t crc = crc32c(data, size);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/crc32c-inl.hpp"
#endif
