#pragma once

#include <cmath>
#include <cstdint>

#include "nax/core/abi.hpp"

// Threefry-2x32 with 20 rounds (Salmon et al., 2011): a counter of two words and a key of two words give two
// words. Draw i of a key is the hash of the counter i, so that any part of a draw can be computed by itself.
NAX_BEGIN
namespace loops {

struct Words {
  std::uint32_t first, second;
};

// A key or a counter as one number: the first word is the high one.
constexpr Words words_of(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x >> 32), static_cast<std::uint32_t>(x)};
}
constexpr std::uint64_t word_pair(Words w) { return std::uint64_t{w.first} << 32 | w.second; }

// V is one word or a vector of them, and all counters below are hashed at once. Two vectors keep the machine
// busy.
template <class V, int count>
struct Threefry {
  V x[count], y[count];

  template <int rotation>
  constexpr void mix() {
    for (int i = 0; i < count; ++i) {
      x[i] += y[i];
      y[i] = (y[i] << rotation | y[i] >> (32 - rotation)) ^ x[i];
    }
  }
  constexpr void add(std::uint32_t a, std::uint32_t b) {
    for (int i = 0; i < count; ++i) x[i] += a, y[i] += b;
  }
  constexpr void even_rounds() { mix<13>(), mix<15>(), mix<26>(), mix<6>(); }
  constexpr void odd_rounds() { mix<17>(), mix<29>(), mix<16>(), mix<24>(); }

  constexpr void hash(std::uint64_t key) {
    const auto [a, b] = words_of(key);
    const std::uint32_t c = a ^ b ^ 0x1bd11bdau;
    add(a, b);
    even_rounds(), add(b, c + 1);
    odd_rounds(), add(c, a + 2);
    even_rounds(), add(a, b + 3);
    odd_rounds(), add(b, c + 4);
    even_rounds(), add(c, a + 5);
  }
};

constexpr Words threefry(std::uint64_t key, std::uint64_t counter) {
  const auto [high, low] = words_of(counter);
  Threefry<std::uint32_t, 1> one{{high}, {low}};
  one.hash(key);
  return {one.x[0], one.y[0]};
}

// How often n positions are sorted by random words for a permutation, since equal words are likely.
inline int shuffle_rounds(std::int64_t n) {
  return static_cast<int>(
      std::ceil(3 * std::log(static_cast<double>(n < 1 ? 1 : n)) / std::log(4294967295.0)));
}

}  // namespace loops
NAX_END
