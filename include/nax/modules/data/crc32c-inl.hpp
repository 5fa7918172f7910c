#pragma once

#include "nax/modules/data/crc32c.hpp"

NAX_BEGIN
namespace data::detail {

#if defined(__x86_64__) && !defined(__CUDACC__)
inline constexpr std::size_t crc32c_block = 1024;

// By bit: what a checksum with it alone becomes when it moves past a block of zeros. (GCC compiles a lambda
// of a function without the function's instructions.)
__attribute__((target("sse4.2,crc32"))) inline std::array<std::uint32_t, 32> crc32c_past_block() {
  std::array<std::uint32_t, 32> bits;
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint64_t crc = std::uint64_t{1} << bit;
    for (std::size_t i = 0; i < crc32c_block; i += 8) crc = __builtin_ia32_crc32di(crc, 0);
    bits[bit] = static_cast<std::uint32_t>(crc);
  }
  return bits;
}

// Three streams at once hide the instruction's latency.
__attribute__((target("sse4.2,crc32"))) inline std::uint32_t crc32c_by_instruction(const void* data,
                                                                                   std::size_t size) {
  constexpr std::size_t block = crc32c_block;
  static const std::array<std::uint32_t, 32> shift = crc32c_past_block();
  const auto shifted = [](std::uint64_t crc) {
    std::uint32_t out = 0;
    for (std::size_t bit = 0; bit < 32; ++bit)
      out ^= shift[bit] & (0u - static_cast<std::uint32_t>(crc >> bit & 1));
    return std::uint64_t{out};
  };
  const auto* p = static_cast<const std::uint8_t*>(data);
  const auto word = [](const std::uint8_t* from) {
    std::uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  std::uint64_t crc = ~std::uint32_t{0};
  for (; size >= 3 * block; size -= 3 * block, p += 3 * block) {
    std::uint64_t second = 0, third = 0;
    for (std::size_t i = 0; i < block; i += 8) {
      crc = __builtin_ia32_crc32di(crc, word(p + i));
      second = __builtin_ia32_crc32di(second, word(p + block + i));
      third = __builtin_ia32_crc32di(third, word(p + 2 * block + i));
    }
    crc = shifted(shifted(crc) ^ second) ^ third;
  }
  for (; size >= 8; size -= 8, p += 8) crc = __builtin_ia32_crc32di(crc, word(p));
  auto rest = static_cast<std::uint32_t>(crc);
  for (; size > 0; --size) rest = __builtin_ia32_crc32qi(rest, *p++);
  return ~rest;
}
#endif

NAX_ENGINE std::uint32_t crc32c(const void* data, std::size_t size) {
#if defined(__x86_64__) && !defined(__CUDACC__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_by_instruction(data, size);
#endif
  return crc32c_by_tables(data, size);
}

NAX_ENGINE std::uint32_t crc32c_by_tables(const void* data, std::size_t size) {
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

}  // namespace data::detail
NAX_END
