#pragma once

#include "nax/io/deflate.hpp"

NAX_BEGIN
namespace io::detail {

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

}  // namespace io::detail
NAX_END
