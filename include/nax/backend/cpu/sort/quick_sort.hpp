#pragma once

// Quicksort of numbers of 32 and 64 bits on AVX-512.
//
// A partition works in place from both ends: what it reads next comes from the end where the room for writing
// is less, four registers at a time, so that few branches depend on the data. Within a register compress and
// expand part what is below the pivot from the rest. Short runs are sorted in registers (register_sort.hpp).

#include "nax/backend/cpu/sort/register_sort.hpp"
#include "nax/core/compiler.hpp"

#ifdef NAX_AVX512

#include <algorithm>
#include <cstdint>

NAX_BEGIN
namespace cpu::detail {
inline namespace NAX_SIMD_ABI {

// Elements below the pivot (or not above it) come first; how many they are. At least 2 * 4 registers.
template <bool or_equal, class K>
std::int64_t partition_run(K* x, std::int64_t n, K pivot_) {
  using L = SortLanes<K>;
  constexpr std::int64_t w = L::width, step = 4 * w;
  const __m512i pivot = L::broadcast(pivot_);
  const auto first = [pivot](__m512i v) { return L::template below<or_equal>(v, pivot); };
  const auto lanes = [](std::int64_t count) { return static_cast<typename L::Mask>((1u << count) - 1); };

  // Four registers of each end, and the rest that fills no four, are held back.
  const std::int64_t rest = n % step;
  std::int64_t end = n - rest;
  __m512i head[4], tail[4], extra[4];
  NAX_UNROLL
  for (int i = 0; i < 4; ++i) {
    head[i] = L::load(x + i * w);
    tail[i] = L::load(x + end - step + i * w);
    extra[i] = L::load(pivot, some_lanes<K>(rest - i * w), x + end + i * w);
  }
  // Unread: [begin, last). Written: [0, left) and [right, end).
  std::int64_t begin = step, last = end - step, left = 0, right = end;
  while (begin < last) {
    std::int64_t from = begin;
    if (begin - left <= right - last)
      begin += step;
    else
      from = last -= step;
    __m512i v[4];
    NAX_UNROLL
    for (int i = 0; i < 4; ++i) v[i] = L::load(x + from + i * w);
    NAX_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto m = first(v[i]);
      const int count = std::popcount(m);
      right -= w - count;
      L::store(x + left, L::compress(m, v[i]));
      L::compress_store(x + right, static_cast<typename L::Mask>(~m), lanes(w - count), v[i]);
      left += count;
    }
  }
  const auto put = [&](__m512i v) {
    const auto m = first(v);
    const int count = std::popcount(m);
    right -= w - count;
    L::store(x + left, lanes(count), L::compress(m, v));
    L::store(x + right, lanes(w - count), L::compress(static_cast<typename L::Mask>(~m), v));
    left += count;
  };
  NAX_UNROLL
  for (int i = 0; i < 4; ++i) put(head[i]), put(tail[i]);
  // The rest: as many of the upper part's elements make room at its end as there are first ones.
  for (std::int64_t i = 0; i * w < rest; ++i) {
    const auto live = some_lanes<K>(rest - i * w);
    const auto m = static_cast<typename L::Mask>(first(extra[i]) & live);
    const std::int64_t count = std::popcount(m), others = std::popcount(live) - count;
    const std::int64_t moved = std::min(count, end - left);
    const __m512i upper = L::load(pivot, lanes(moved), x + left);
    L::store(x + end + count - moved, lanes(moved), upper);
    L::store(x + left, lanes(count), L::compress(m, extra[i]));
    L::store(x + end + count, lanes(others), L::compress(static_cast<typename L::Mask>(~m & live), extra[i]));
    left += count;
    end += count + others;
  }
  return left;
}

// Partitions from one run to another: elements not below the pivot come last, backward. Returns -1 for a NaN,
// which has no place.
template <class K>
std::int64_t partition_copy(const K* from, K* to, std::int64_t n, K pivot_) {
  using L = SortLanes<K>;
  constexpr std::int64_t w = L::width, step = 4 * w;
  constexpr std::int64_t ahead = 16;  // registers: written memory was not read before, so fetch early
  const __m512i pivot = L::broadcast(pivot_);
  std::int64_t left = 0, right = n, i = 0;
  typename L::Mask nan = 0;
  // As much is unread as there is room between left and right.
  const auto put = [&](__m512i v) NAX_INLINE_LAMBDA {
    const auto m = L::template below<false>(v, pivot);
    const int count = std::popcount(m);
    nan = static_cast<typename L::Mask>(nan | L::is_nan(v));
    right -= w - count;
    L::store(to + left, L::compress(m, v));
    L::compress_store(to + right, static_cast<typename L::Mask>(~m),
                      static_cast<typename L::Mask>((1u << (w - count)) - 1), v);
    left += count;
  };
  for (; i + step <= n; i += step) {
    __m512i v[4];
    NAX_UNROLL
    for (int r = 0; r < 4; ++r) v[r] = L::load(from + i + r * w);
    NAX_UNROLL
    for (int r = 0; r < 4; ++r) put(v[r]);
    NAX_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_PREFETCH(to + left + (ahead + r) * w, 1);
      NAX_PREFETCH(to + right - (ahead + r) * w, 1);
    }
  }
  for (; i + w <= n; i += w) put(L::load(from + i));
  if (nan) return -1;
  for (; i < n; ++i) {
    if (from[i] != from[i]) return -1;
    to[from[i] < pivot_ ? left++ : --right] = from[i];
  }
  return left;
}

// The median of a sample: of one register for a short run, of four for a long one.
template <class K>
K choose_pivot(const K* x, std::int64_t n, std::uint64_t& state) {
  constexpr int w = SortLanes<K>::width;
  K sample[4 * w];
  const int count = n >= 256 * w ? 4 * w : w;
  const std::int64_t stride = n / count;
  state = state * 6364136223846793005u + 1442695040888963407u;
  std::int64_t at = static_cast<std::int64_t>((state >> 33) * static_cast<std::uint64_t>(stride) >> 31);
  for (int i = 0; i < count; ++i, at += stride) sample[i] = x[at];
  sort_small(sample, count);
  return sample[count / 2];
}

template <class K>
void quick_sort(K* x, std::int64_t n, int depth, std::uint64_t& state) {
  while (n > block_sort_most<K>) {
    if (depth-- == 0) {  // the pivots were bad, again and again
      std::sort(x, x + n);
      return;
    }
    const K pivot = choose_pivot(x, n, state);
    const std::int64_t below = partition_run<false>(x, n, pivot);
    if (below == 0) {  // the pivot is the least: what equals it is done
      const std::int64_t equal = partition_run<true>(x, n, pivot);
      x += equal;
      n -= equal;
    } else if (below < n - below) {
      quick_sort(x, below, depth, state);
      x += below;
      n -= below;
    } else {
      quick_sort(x + below, n - below, depth, state);
      n = below;
    }
  }
  sort_small(x, n);
}

inline constexpr std::uint64_t first_sort_state = 0x9E3779B97F4A7C15u;
NAX_ENGINE_HERE int sort_depth(std::int64_t n) {
  int depth = 4;
  for (; n > 0; n /= 2) depth += 2;
  return depth;
}

// Ascending; no NaN may be among them.
template <class K>
void sort_numbers(K* x, std::int64_t n) {
  std::uint64_t state = first_sort_state;
  quick_sort(x, n, sort_depth(n), state);
}
// From another run, which the first partition reads. False, and nothing is sorted, where there
// is a NaN or nothing to part.
template <class K>
bool sort_numbers(const K* from, K* x, std::int64_t n) {
  if (n <= block_sort_most<K>) return false;
  std::uint64_t state = first_sort_state;
  const std::int64_t below = partition_copy(from, x, n, choose_pivot(from, n, state));
  if (below < 0) return false;
  quick_sort(x, below, sort_depth(n), state);
  quick_sort(x + below, n - below, sort_depth(n), state);
  return true;
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu::detail
NAX_END

#endif
