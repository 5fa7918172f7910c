#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/core/compiled_once.hpp"

// Truth of contiguous runs, where whatever is not zero is true, NaN too: is any element, are all, how many
// are. The first two stop soon after the element that decides.
NAX_BEGIN
namespace cpu {
namespace detail {

// Does a reduction take elements by their truth alone? It says so by a `fold` of its own.
template <class Op, class From>
concept TakesTruth = requires(const From* x) {
  Op::fold(x, std::int64_t{});
};
// An element as it joins the accumulator.
template <class Op, class From>
typename Op::Acc element_of(const From& x) {
  if constexpr (TakesTruth<Op, From>)
    return static_cast<typename Op::Acc>(x != From(0));
  else
    return convert_element<From, typename Op::Acc>(x);
}

// Bytes that are read between two tests of the outcome.
inline constexpr std::int64_t truth_block_bytes = 1024;

// Do any bits of so many bytes, whole words, differ from those of `word`?
NAX_ENGINE_HERE bool any_differs(const void* from, std::int64_t bytes, std::uint64_t word) {
  const char* x = static_cast<const char*>(from);
  std::uint64_t found[4] = {};
  for (; bytes >= 32; bytes -= 32, x += 32) {
    std::uint64_t v[4];
    std::memcpy(v, x, sizeof v);
    NAX_UNROLL
    for (int j = 0; j < 4; ++j) found[j] |= v[j] ^ word;
  }
  for (; bytes >= 8; bytes -= 8, x += 8) {
    std::uint64_t v;
    std::memcpy(&v, x, sizeof v);
    found[0] |= v ^ word;
  }
  return (found[0] | found[1] | found[2] | found[3]) != 0;
}

// Is `stop` the truth of any element?
template <bool stop, class T>
bool finds_truth(const T* x, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    constexpr std::int64_t block = truth_block_bytes / static_cast<std::int64_t>(sizeof(T));
    const P zero(T(0));
    const auto look = [&](std::int64_t at) {
      return stop ? P::load(x + at) != zero : P::load(x + at) == zero;
    };
    for (; i + block <= n; i += block) {
      simd::Mask<T> found[4] = {look(i), look(i + P::size), look(i + 2 * P::size), look(i + 3 * P::size)};
      for (std::int64_t j = i + 4 * P::size; j < i + block; j += 4 * P::size) {
        NAX_UNROLL
        for (int k = 0; k < 4; ++k) found[k] = found[k] | look(j + k * P::size);
      }
      if (any((found[0] | found[1]) | (found[2] | found[3]))) return true;
    }
    for (; i + P::size <= n; i += P::size)
      if (any(look(i))) return true;
  } else if constexpr (std::is_integral_v<T> && (stop || std::is_same_v<T, bool>)) {
    // Any bit makes an element true; of truth values that are all true the bytes are all 1.
    constexpr std::int64_t size = sizeof(T), block = truth_block_bytes / size;
    constexpr std::uint64_t usual = stop ? 0 : 0x0101010101010101u;
    for (; i + block <= n; i += block)
      if (any_differs(x + i, truth_block_bytes, usual)) return true;
    const std::int64_t whole = (n - i) * size / 8 * 8;
    if (any_differs(x + i, whole, usual)) return true;
    i += whole / size;
  } else {
    constexpr int block = 32;
    for (; i + block <= n; i += block) {
      int found = 0;
      for (int j = 0; j < block; ++j) found |= static_cast<int>((x[i + j] != T(0)) == stop);
      if (found) return true;
    }
  }
  for (; i < n; ++i)
    if ((x[i] != T(0)) == stop) return true;
  return false;
}

// How many truth values are true. A byte of a word takes 255 of them before it is added up.
NAX_ENGINE_HERE std::int64_t count_true(const bool* x, std::int64_t n) {
  std::int64_t count = 0, i = 0;
  while (n - i >= 32) {
    const std::int64_t turns = (n - i) / 32 < 255 ? (n - i) / 32 : 255;
    std::uint64_t sums[4] = {};
    for (const std::int64_t end = i + 32 * turns; i < end; i += 32) {
      std::uint64_t v[4];
      std::memcpy(v, x + i, sizeof v);
      NAX_UNROLL
      for (int j = 0; j < 4; ++j) sums[j] += v[j];
    }
    for (const std::uint64_t sum : sums) {
      const std::uint64_t pairs = (sum & 0x00FF00FF00FF00FFu) + (sum >> 8 & 0x00FF00FF00FF00FFu);
      count += static_cast<std::int64_t>((pairs * 0x0001000100010001u) >> 48);
    }
  }
  for (; i < n; ++i) count += x[i];
  return count;
}

template <class T>
std::int64_t count_nonzero(const T* x, std::int64_t n) {
  if constexpr (std::is_same_v<T, bool>) {
    return count_true(x, n);
  } else if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    // Ones are added up as numbers, few enough to be exact.
    constexpr std::int64_t most = std::int64_t{1} << 20;
    const P zero(T(0)), one(T(1));
    std::int64_t count = 0, i = 0;
    while (i + P::size <= n) {
      const std::int64_t end = n - i < most ? n : i + most;
      P sums[4] = {zero, zero, zero, zero};
      for (; i + 4 * P::size <= end; i += 4 * P::size) {
        NAX_UNROLL
        for (int j = 0; j < 4; ++j) sums[j] = sums[j] + kept(P::load(x + i + j * P::size) != zero, one);
      }
      for (; i + P::size <= end; i += P::size) sums[0] = sums[0] + kept(P::load(x + i) != zero, one);
      T lanes[P::size];
      ((sums[0] + sums[1]) + (sums[2] + sums[3])).store(lanes);
      for (const T lane : lanes) count += static_cast<std::int64_t>(lane);
    }
    for (; i < n; ++i) count += x[i] != T(0);
    return count;
  } else {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t end = n - i < most ? n : i + most;
      std::int32_t sums[16] = {};
      for (; i + 16 <= end; i += 16)
        for (int j = 0; j < 16; ++j) sums[j] += static_cast<std::int32_t>(x[i + j] != T(0));
      for (; i < end; ++i) count += x[i] != T(0);
      for (const std::int32_t sum : sums) count += sum;
    }
    return count;
  }
}

}  // namespace detail
}  // namespace cpu
NAX_END
