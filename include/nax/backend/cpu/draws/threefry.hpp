#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/core/compiler.hpp"
#include "nax/loops/threefry.hpp"

// Many hashes at once (loops/threefry.hpp), on packets.
NAX_BEGIN
namespace cpu {

using loops::threefry;
using loops::word_pair;
using loops::Words;
using loops::words_of;

namespace detail {
inline namespace NAX_SIMD_ABI {

// Words in a register; the compiler splits it where the machine's registers are shorter.
#ifdef NAX_AVX512
inline constexpr int words_at_once = 16;
#else
inline constexpr int words_at_once = 8;
#endif
#if defined(NAX_MSVC)
struct ManyWords {
  std::uint32_t words[words_at_once] = {};

  ManyWords() = default;
  ManyWords(std::uint32_t word) { std::fill_n(words, words_at_once, word); }
  std::uint32_t& operator[](int i) { return words[i]; }
  template <class F>
  static ManyWords each(const ManyWords& a, const ManyWords& b, F f) {
    ManyWords result;
    for (int i = 0; i < words_at_once; ++i) result.words[i] = f(a.words[i], b.words[i]);
    return result;
  }
  friend ManyWords operator+(const ManyWords& a, const ManyWords& b) { return each(a, b, std::plus<>()); }
  friend ManyWords operator-(const ManyWords& a, const ManyWords& b) { return each(a, b, std::minus<>()); }
  friend ManyWords operator|(const ManyWords& a, const ManyWords& b) { return each(a, b, std::bit_or<>()); }
  friend ManyWords operator^(const ManyWords& a, const ManyWords& b) { return each(a, b, std::bit_xor<>()); }
  friend ManyWords operator<(const ManyWords& a, const ManyWords& b) {
    return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x < y ? ~std::uint32_t{0} : 0u; });
  }
  friend ManyWords operator<<(const ManyWords& a, int by) {
    return each(a, a, [=](std::uint32_t x, std::uint32_t) { return x << by; });
  }
  friend ManyWords operator>>(const ManyWords& a, int by) {
    return each(a, a, [=](std::uint32_t x, std::uint32_t) { return x >> by; });
  }
  ManyWords& operator+=(const ManyWords& b) { return *this = *this + b; }
};
#else
typedef std::uint32_t ManyWords __attribute__((vector_size(4 * words_at_once)));
#endif

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

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
    const auto [high, low] = loops::words_of(at);
    loops::Threefry<V, 2> block;
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
NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint32_t* out) {
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   for (int i = 0; i < count; ++i) out[at + i] = x[i] ^ y[i];
                 });
}

NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint64_t* out) {
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   for (int i = 0; i < count; ++i) out[at + i] = word_pair({x[i], y[i]});
                 });
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
#endif
