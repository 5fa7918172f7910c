#pragma once

#include <cstddef>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// In C, in files and in NumPy's views any byte but 0 is true. Here true is the byte 1: kernels add bools and
// select by their bits. So whatever brings bools in from outside calls this on their bytes, before anybody
// reads them as bools (another byte is undefined behaviour by then).
inline void normalize_bools(void* bytes, std::size_t count) {
  unsigned char* const byte = static_cast<unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) byte[i] = byte[i] != 0;
}

}  // namespace detail
NAX_END
