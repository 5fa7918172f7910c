#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "nax/backend/cpu/packets/packet_compress.hpp"
#include "nax/backend/cpu/packets/truth.hpp"

// Where truth values are true, without a branch that depends on them: eight at a time become the bits of a
// number, and a table says which of them are set.
NAX_BEGIN
namespace cpu {

// Writes first + i for each i < n whose mask is true, ascending, to `to` and returns its end; `end` is the
// end of the room there, which may be all taken.
template <class I>
I* write_true_places(const bool* mask, std::int64_t n, I first, I* to, const I* end) {
  std::int64_t i = 0;
  if constexpr (std::endian::native == std::endian::little)
    for (; i + 8 <= n && end - to >= 8; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, mask + i, 8);
      // Byte k brings bit 0 to bit 56 + k; whatever else it brings stays below.
      const auto bits = static_cast<unsigned>((word * 0x0102040810204080u) >> 56);
      const I from = static_cast<I>(first + static_cast<I>(i));
      I places[8];
      for (int k = 0; k < 8; ++k)
        places[k] = static_cast<I>(from + static_cast<I>(simd::detail::set_bits.at[bits][k]));
      std::memcpy(to, places, sizeof places);
      to += std::popcount(bits);
    }
  for (; i < n && to != end; ++i)
    if (mask[i]) *to++ = static_cast<I>(first + static_cast<I>(i));
  return to;
}

}  // namespace cpu
NAX_END
