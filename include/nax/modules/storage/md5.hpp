#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "nax/core/abi.hpp"

// MD5 (RFC 1321): the ETag that S3's stores give to what was uploaded at once. Sees accidents, not attacks.
NAX_BEGIN
namespace storage::detail {

using Md5 = std::array<std::uint8_t, 16>;

namespace md5 {

// The integer parts of 2^32 |sin(i)|, i from 1 on.
inline constexpr std::uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
inline constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

inline void mix(std::uint32_t (&state)[4], const std::uint8_t* block) {
  std::uint32_t words[16];
  for (std::size_t i = 0; i < 16; ++i, block += 4)
    words[i] = std::uint32_t{block[0]} | std::uint32_t{block[1]} << 8 | std::uint32_t{block[2]} << 16 |
               std::uint32_t{block[3]} << 24;
  std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  const auto step = [&](std::size_t i, std::uint32_t mixed, std::size_t word, int turn) {
    const std::uint32_t sum = a + mixed + sines[i] + words[word];
    a = d, d = c, c = b;
    b += sum << turn | sum >> (32 - turn);
  };
  for (std::size_t i = 0; i < 16; ++i) step(i, (b & c) | (~b & d), i, turns[0][i % 4]);
  for (std::size_t i = 16; i < 32; ++i) step(i, (d & b) | (~d & c), (5 * i + 1) % 16, turns[1][i % 4]);
  for (std::size_t i = 32; i < 48; ++i) step(i, b ^ c ^ d, (3 * i + 5) % 16, turns[2][i % 4]);
  for (std::size_t i = 48; i < 64; ++i) step(i, c ^ (b | ~d), 7 * i % 16, turns[3][i % 4]);
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

}  // namespace md5

inline Md5 md5_of(const void* data, std::size_t size) {
  std::uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const auto* from = static_cast<const std::uint8_t*>(data);
  const std::uint64_t bits = std::uint64_t{size} * 8;
  for (; size >= 64; size -= 64, from += 64) md5::mix(state, from);
  std::uint8_t rest[128] = {};
  if (size > 0) std::memcpy(rest, from, size);
  rest[size] = 0x80;
  const std::size_t end = size < 56 ? 64 : 128;
  for (std::size_t i = 0; i < 8; ++i) rest[end - 8 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  for (std::size_t at = 0; at < end; at += 64) md5::mix(state, rest + at);
  Md5 digest;
  for (std::size_t i = 0; i < 16; ++i) digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (8 * (i % 4)));
  return digest;
}

}  // namespace storage::detail
NAX_END
