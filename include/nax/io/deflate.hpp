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
NAX_BEGIN
namespace io::detail {

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

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/deflate-inl.hpp"
#endif
