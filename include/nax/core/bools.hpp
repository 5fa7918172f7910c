#pragma once

#include <cstddef>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// Makes every byte but 0 the byte 1. C, files and NumPy's views count any byte but 0 as true; kernels here
// add bools and select by their bits. Call it on bools from outside before they are read as bools: reading
// another byte is undefined behaviour.
inline void normalize_bools(void* bytes, std::size_t count) {
  unsigned char* const byte = static_cast<unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) byte[i] = byte[i] != 0;
}

}  // namespace detail
NAX_END
