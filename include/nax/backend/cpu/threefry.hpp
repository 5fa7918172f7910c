#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nax/backend/cpu/packet_base.hpp"

// Threefry-2x32 with 20 rounds (Salmon et al., 2011): a counter of two words and a key of two words give two
// words. Draw i of a key is the hash of the counter i, so that any part of a draw can be computed by itself.
NAX_BEGIN
namespace cpu {

struct Words {
  std::uint32_t first, second;
};

// A key or a counter as one number: the first word is the high one.
constexpr Words words_of(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x >> 32), static_cast<std::uint32_t>(x)};
}
constexpr std::uint64_t word_pair(Words w) { return std::uint64_t{w.first} << 32 | w.second; }

namespace detail {
inline namespace NAX_SIMD_ABI {

// Words in a register; the compiler splits it where the machine's registers are shorter.
#ifdef EIGEN_VECTORIZE_AVX512
inline constexpr int words_at_once = 16;
#else
inline constexpr int words_at_once = 8;
#endif
typedef std::uint32_t ManyWords __attribute__((vector_size(4 * words_at_once)));

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

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

constexpr Words threefry(std::uint64_t key, std::uint64_t counter) {
  const auto [high, low] = words_of(counter);
  detail::Threefry<std::uint32_t, 1> one{{high}, {low}};
  one.hash(key);
  return {one.x[0], one.y[0]};
}

// f(x, y, done, count) for each block of counters, two registers full: the hashes of first + done, ... are
// (x[i], y[i]), i < count. The count is a constant for all blocks but the last.
template <class F>
void for_each_block(std::uint64_t key, std::uint64_t first, std::int64_t n, F f) {
  using V = detail::ManyWords;
  constexpr int w = detail::words_at_once, block_size = 2 * w;
  V steps;
  for (int i = 0; i < w; ++i) steps[i] = static_cast<std::uint32_t>(i);
  for (std::int64_t done = 0; done < n; done += block_size) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(done);
    const auto [high, low] = words_of(at);
    detail::Threefry<V, 2> block;
    block.y[0] = steps + low;
    block.y[1] = steps + (low + w);
    if (low <= 0xFFFFFFFFu - block_size) {
      block.x[0] = block.x[1] = V{} + high;
    } else {  // a comparison is -1 where it holds: the carry into the high word
      block.x[0] = high - (V)(block.y[0] < low);
      block.x[1] = high - (V)(block.y[1] < low);
    }
    block.hash(key);
    std::uint32_t x[block_size], y[block_size];
    std::memcpy(x, block.x, sizeof(x));
    std::memcpy(y, block.y, sizeof(y));
    if (n - done >= block_size)
      f(x, y, done, std::integral_constant<int, block_size>());
    else
      f(x, y, done, static_cast<int>(n - done));
  }
}

// Draws first, first + 1, ... of a key, of 32 and of 64 bits.
NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint32_t* out);
NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint64_t* out);

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/threefry-inl.hpp"
#endif
