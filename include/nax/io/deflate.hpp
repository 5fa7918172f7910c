#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

// Packing as deflate (RFC 1951) does, for savez_compressed: the longest of the last few places where the next
// bytes have been before, in the format's fixed code. That is near zlib's fastest level: a code made for the
// data would pack numbers a tenth better, at three times the lines. What reads it is in io/inflate.hpp, and
// in NumPy.
namespace nax::inline NAX_ABI::io::detail {

class Deflate {
 public:
  static std::string pack(const std::uint8_t* data, std::size_t size);

 private:
  static constexpr int hash_bits = 15;
  static constexpr std::size_t window = 32768, least = 3, most = 258;

  static std::size_t hash(const std::uint8_t* p) {
    const std::uint32_t three = static_cast<std::uint32_t>(p[0] | p[1] << 8 | p[2] << 16);
    return three * 2654435761u >> (32 - hash_bits);
  }
  void bits(std::uint32_t value, int n) {
    held_ |= static_cast<std::uint64_t>(value) << count_;
    count_ += n;
    for (; count_ >= 8; count_ -= 8, held_ >>= 8) out_ += static_cast<char>(held_ & 0xff);
  }
  // Codes are written from their highest bit on.
  void code(std::uint32_t value, int n) {
    std::uint32_t turned = 0;
    for (int i = 0; i < n; ++i) turned |= (value >> i & 1) << (n - 1 - i);
    bits(turned, n);
  }
  void symbol(int s) {
    const auto u = static_cast<std::uint32_t>(s);
    if (s < 144)
      code(0x30 + u, 8);
    else if (s < 256)
      code(0x190 + u - 144, 9);
    else if (s < 280)
      code(u - 256, 7);
    else
      code(0xc0 + u - 280, 8);
  }
  // Both are in classes, each twice (of lengths four times) as wide as one some classes before, with the
  // place within the class behind.
  void match(std::size_t length, std::size_t distance);

  std::string out_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

}  // namespace nax::inline NAX_ABI::io::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::io::detail {

NAX_ENGINE std::string Deflate::pack(const std::uint8_t* data, std::size_t size) {
  Deflate d;
  d.bits(1, 1), d.bits(1, 2);  // the last block, in the fixed code
  std::vector<std::int64_t> head(std::size_t{1} << hash_bits, -1), before(window, -1);
  const auto enter = [&](std::size_t i) {
    std::int64_t& last = head[hash(data + i)];
    before[i % window] = last;
    last = static_cast<std::int64_t>(i);
  };
  for (std::size_t i = 0; i < size;) {
    std::size_t length = 0, distance = 0;
    if (i + least <= size) {
      std::int64_t at = head[hash(data + i)];
      const std::size_t longest = std::min<std::size_t>(most, size - i);
      for (int tries = 16; at >= 0 && i - static_cast<std::size_t>(at) < window && tries > 0; --tries) {
        const std::uint8_t* const there = data + at;
        std::size_t n = 0;
        while (n < longest && there[n] == data[i + n]) ++n;
        if (n > length) length = n, distance = i - static_cast<std::size_t>(at);
        if (n == longest) break;
        const std::int64_t next = before[static_cast<std::size_t>(at) % window];
        if (next >= at) break;  // that place has been taken by a later one
        at = next;
      }
    }
    const std::size_t step = length >= least ? length : 1;
    if (length >= least)
      d.match(length, distance);
    else
      d.symbol(data[i]);
    for (std::size_t k = i; k < i + step && k + least <= size; ++k) enter(k);
    i += step;
  }
  d.symbol(256);
  d.bits(0, 7);  // fills the last byte
  return std::move(d.out_);
}

NAX_ENGINE void Deflate::match(std::size_t length, std::size_t distance) {
  if (length == most) {
    symbol(285);
  } else {
    const std::uint32_t x = static_cast<std::uint32_t>(length - least);
    int extra = 0;
    while (x >> (extra + 3) != 0) ++extra;
    symbol(257 + 4 * extra + static_cast<int>(x >> extra));
    bits(x & ((1u << extra) - 1), extra);
  }
  const std::uint32_t y = static_cast<std::uint32_t>(distance - 1);
  int extra = 0;
  while (y >> (extra + 2) != 0) ++extra;
  code(2 * static_cast<std::uint32_t>(extra) + (y >> extra), 5);
  bits(y & ((1u << extra) - 1), extra);
}

}  // namespace nax::inline NAX_ABI::io::detail
#endif
