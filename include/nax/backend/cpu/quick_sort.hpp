#pragma once

// Quicksort of numbers of 32 and 64 bits on AVX-512.
//
// A partition works in place from both ends: what it reads next comes from the end where the room for writing
// is less, four registers at a time, so that few branches depend on the data. Within a register compress and
// expand part what is below the pivot from the rest. Runs of up to 16 registers are sorted in registers: each
// by bitonic steps, then merged two by two, also by bitonic steps.

#include "nax/backend/cpu/packet_base.hpp"

#ifdef EIGEN_VECTORIZE_AVX512

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace nax::cpu::detail {
inline namespace NAX_SIMD_ABI {

// Zen 4 takes a hundred cycles to compress to memory.
#ifdef __znver4__
inline constexpr bool compresses_to_memory = false;
#else
inline constexpr bool compresses_to_memory = true;
#endif

// Registers of K, whatever it is, as __m512i. Of two equal numbers min and max both give the second, so that
// a pair of zeros of different signs stays one when the operands are exchanged for one of the two. (maskz and
// mask forms throughout: the others warn in GCC 12, see packet_arithmetic.hpp)
template <class K>
struct SortLanes {
  static constexpr bool single = std::is_same_v<K, float>, narrow = sizeof(K) == 4;
  using Mask = std::conditional_t<narrow, __mmask16, __mmask8>;
  static constexpr int width = 64 / sizeof(K);
  static constexpr Mask all = static_cast<Mask>(-1);
  static __m512 ps(__m512i x) { return _mm512_castsi512_ps(x); }
  static __m512d pd(__m512i x) { return _mm512_castsi512_pd(x); }

  static __m512i broadcast(K x) {
    if constexpr (narrow)
      return _mm512_set1_epi32(std::bit_cast<std::int32_t>(x));
    else
      return _mm512_set1_epi64(std::bit_cast<std::int64_t>(x));
  }
  static __m512i load(const K* from) { return _mm512_loadu_si512(from); }
  static __m512i load(__m512i other, Mask m, const K* from) {
    if constexpr (narrow)
      return _mm512_mask_loadu_epi32(other, m, from);
    else
      return _mm512_mask_loadu_epi64(other, m, from);
  }
  static void store(K* to, __m512i x) { _mm512_storeu_si512(to, x); }
  static void store(K* to, Mask m, __m512i x) {
    if constexpr (narrow)
      _mm512_mask_storeu_epi32(to, m, x);
    else
      _mm512_mask_storeu_epi64(to, m, x);
  }
  static __m512i min(__m512i a, __m512i b) {
    if constexpr (single)
      return _mm512_castps_si512(_mm512_maskz_min_ps(all, ps(a), ps(b)));
    else if constexpr (std::is_floating_point_v<K>)
      return _mm512_castpd_si512(_mm512_maskz_min_pd(all, pd(a), pd(b)));
    else if constexpr (narrow)
      return std::is_signed_v<K> ? _mm512_maskz_min_epi32(all, a, b) : _mm512_maskz_min_epu32(all, a, b);
    else
      return std::is_signed_v<K> ? _mm512_maskz_min_epi64(all, a, b) : _mm512_maskz_min_epu64(all, a, b);
  }
  static __m512i max(__m512i other, Mask m, __m512i a, __m512i b) {
    if constexpr (single)
      return _mm512_castps_si512(_mm512_mask_max_ps(ps(other), m, ps(a), ps(b)));
    else if constexpr (std::is_floating_point_v<K>)
      return _mm512_castpd_si512(_mm512_mask_max_pd(pd(other), m, pd(a), pd(b)));
    else if constexpr (narrow)
      return std::is_signed_v<K> ? _mm512_mask_max_epi32(other, m, a, b)
                                 : _mm512_mask_max_epu32(other, m, a, b);
    else
      return std::is_signed_v<K> ? _mm512_mask_max_epi64(other, m, a, b)
                                 : _mm512_mask_max_epu64(other, m, a, b);
  }
  static __m512i max(__m512i a, __m512i b) { return max(a, all, a, b); }
  // a < b, or a <= b.
  template <bool or_equal>
  static Mask below(__m512i a, __m512i b) {
    if constexpr (single)
      return _mm512_cmp_ps_mask(ps(a), ps(b), or_equal ? _CMP_LE_OQ : _CMP_LT_OQ);
    else if constexpr (std::is_floating_point_v<K>)
      return _mm512_cmp_pd_mask(pd(a), pd(b), or_equal ? _CMP_LE_OQ : _CMP_LT_OQ);
    else if constexpr (narrow)
      return std::is_signed_v<K> ? _mm512_cmp_epi32_mask(a, b, or_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT)
                                 : _mm512_cmp_epu32_mask(a, b, or_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT);
    else
      return std::is_signed_v<K> ? _mm512_cmp_epi64_mask(a, b, or_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT)
                                 : _mm512_cmp_epu64_mask(a, b, or_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT);
  }
  static Mask is_nan(__m512i x) {
    if constexpr (single)
      return _mm512_cmp_ps_mask(ps(x), ps(x), _CMP_UNORD_Q);
    else if constexpr (std::is_floating_point_v<K>)
      return _mm512_cmp_pd_mask(pd(x), pd(x), _CMP_UNORD_Q);
    else
      return 0;
  }
  static __m512i compress(Mask m, __m512i x) {
    if constexpr (narrow)
      return _mm512_maskz_compress_epi32(m, x);
    else
      return _mm512_maskz_compress_epi64(m, x);
  }
  // `count` lanes, all low ones: as many as m has.
  static void compress_store(K* to, Mask m, Mask count, __m512i x) {
    if constexpr (!compresses_to_memory)
      store(to, count, compress(m, x));
    else if constexpr (narrow)
      _mm512_mask_compressstoreu_epi32(to, m, x);
    else
      _mm512_mask_compressstoreu_epi64(to, m, x);
  }
  static __m512i permute(const void* from, __m512i x) {
    if constexpr (narrow)
      return _mm512_maskz_permutexvar_epi32(all, _mm512_load_si512(from), x);
    else
      return _mm512_maskz_permutexvar_epi64(all, _mm512_load_si512(from), x);
  }
};

template <class Index, int flip>
struct FlippedLanes {
  alignas(64) Index at[64 / sizeof(Index)] = {};
  constexpr FlippedLanes() {
    for (int i = 0; i < static_cast<int>(64 / sizeof(Index)); ++i) at[i] = static_cast<Index>(i ^ flip);
  }
};
template <class K, int flip>
inline constexpr FlippedLanes<std::conditional_t<sizeof(K) == 4, std::int32_t, std::int64_t>, flip>
    flipped_lanes{};

// Lane i against lane i ^ flip: the smaller one goes to the lower lane.
template <class K, int flip>
[[gnu::always_inline]] inline __m512i exchange_lanes(__m512i x) {
  using L = SortLanes<K>;
  constexpr unsigned top = flip >= 8 ? 8 : flip >= 4 ? 4 : flip >= 2 ? 2 : 1;
  constexpr auto upper = static_cast<typename L::Mask>(top == 8   ? 0xFF00
                                                       : top == 4 ? 0xF0F0
                                                       : top == 2 ? 0xCCCC
                                                                  : 0xAAAA);
  const __m512i other = L::permute(flipped_lanes<K, flip>.at, x);
  return L::max(L::min(x, other), upper, x, other);
}

// Sorts lanes that first rise and then fall, or any rotation of that, within blocks of 2 * distance lanes.
template <class K, int distance>
[[gnu::always_inline]] inline __m512i merge_lanes(__m512i x) {
  if constexpr (distance == 0)
    return x;
  else
    return merge_lanes<K, distance / 2>(exchange_lanes<K, distance>(x));
}
template <class K, int block = 2>
[[gnu::always_inline]] inline __m512i sort_lanes(__m512i x) {
  if constexpr (block > SortLanes<K>::width)
    return x;
  else
    return sort_lanes<K, 2 * block>(merge_lanes<K, block / 4>(exchange_lanes<K, block - 1>(x)));
}

// The same between registers, `distance` of them apart.
template <class K, int distance, int count>
[[gnu::always_inline]] inline void merge_registers(__m512i* x) {
  using L = SortLanes<K>;
  if constexpr (distance == 0) {
    NAX_UNROLL
    for (int i = 0; i < count; ++i) x[i] = merge_lanes<K, L::width / 2>(x[i]);
  } else {
    NAX_UNROLL
    for (int i = 0; i < count; ++i) {
      if (i & distance) continue;
      const __m512i a = x[i], b = x[i + distance];
      x[i] = L::min(b, a);
      x[i + distance] = L::max(a, b);
    }
    merge_registers<K, distance / 2, count>(x);
  }
}

template <class K, int count>
[[gnu::always_inline]] inline void merge_halves(__m512i* x) {
  using L = SortLanes<K>;
  constexpr int half = count / 2;
  // The second half backward makes the whole rise and fall.
  __m512i high[half];
  NAX_UNROLL
  for (int i = 0; i < half; ++i) {
    const __m512i back = L::permute(flipped_lanes<K, L::width - 1>.at, x[count - 1 - i]);
    high[i] = L::max(x[i], back);
    x[i] = L::min(back, x[i]);
  }
  NAX_UNROLL
  for (int i = 0; i < half; ++i) x[half + i] = high[i];
  merge_registers<K, half / 2, count>(x);
}
// Each `sorted` registers are in order; in the end all `count` are.
template <class K, int sorted, int count>
[[gnu::always_inline]] inline void merge_rows(__m512i* x) {
  if constexpr (sorted < count) {
    NAX_UNROLL
    for (int i = 0; i < count; i += 2 * sorted) merge_halves<K, 2 * sorted>(x + i);
    merge_rows<K, 2 * sorted, count>(x);
  }
}

// Batcher's network for n values.
template <int n>
struct SortNetwork {
  int low[64] = {}, high[64] = {}, count = 0;
  constexpr SortNetwork() {
    for (int p = 1; p < n; p *= 2)
      for (int k = p; k > 0; k /= 2)
        for (int j = k % p; j + k < n; j += 2 * k)
          for (int i = j; i < j + k && i + k < n; ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) low[count] = i, high[count++] = i + k;
  }
};
template <int n>
inline constexpr SortNetwork<n> sort_network{};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wignored-attributes"  // of vector types as template arguments, which Eigen's block is
#endif
// As many registers as they have lanes: sorts the columns, then makes rows of them.
template <class K, int... step>
[[gnu::always_inline]] inline void sort_columns(__m512i* x, std::integer_sequence<int, step...>) {
  using L = SortLanes<K>;
  constexpr auto& network = sort_network<L::width>;
  const auto exchange = [x](int low, int high) __attribute__((always_inline)) {
    const __m512i a = x[low], b = x[high];
    x[low] = L::min(b, a);
    x[high] = L::max(a, b);
  };
  (exchange(network.low[step], network.high[step]), ...);
  using T = std::conditional_t<sizeof(K) == 4, float, double>;
  simd::ei::PacketBlock<simd::raw_packet<T>, L::width> block;
  NAX_UNROLL
  for (int i = 0; i < L::width; ++i) {
    if constexpr (sizeof(K) == 4)
      block.packet[i] = _mm512_castsi512_ps(x[i]);
    else
      block.packet[i] = _mm512_castsi512_pd(x[i]);
  }
  simd::ei::ptranspose(block);
  NAX_UNROLL
  for (int i = 0; i < L::width; ++i) {
    if constexpr (sizeof(K) == 4)
      x[i] = _mm512_castps_si512(block.packet[i]);
    else
      x[i] = _mm512_castpd_si512(block.packet[i]);
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class K, int count>
[[gnu::always_inline]] inline void sort_registers(__m512i* x) {
  using L = SortLanes<K>;
  if constexpr (count == L::width) {
    sort_columns<K>(x, std::make_integer_sequence<int, sort_network<count>.count>());
    merge_rows<K, 1, count>(x);
  } else if constexpr (count == 1) {
    x[0] = sort_lanes<K>(x[0]);
  } else {
    sort_registers<K, count / 2>(x);
    sort_registers<K, count / 2>(x + count / 2);
    merge_halves<K, count>(x);
  }
}

// The first `count` lanes, all or none where it is out of range.
template <class K>
auto some_lanes(std::int64_t count) {
  using L = SortLanes<K>;
  return count >= L::width ? L::all : static_cast<typename L::Mask>(count <= 0 ? 0 : (1u << count) - 1);
}

// Floats as whole numbers of the same order, and back.
inline __m512i exchange_key(__m512i x) {
  const __m512i sign = _mm512_maskz_srai_epi32(0xFFFF, x, 31);
  return _mm512_xor_si512(x, _mm512_maskz_srli_epi32(0xFFFF, sign, 1));
}

template <class K, int count>
[[gnu::noinline]] void sort_block(K* x, std::int64_t n) {
  using L = SortLanes<K>;
  constexpr int w = L::width;
  __m512i v[count];
  const __m512i most = L::broadcast(std::is_floating_point_v<K> ? std::numeric_limits<K>::infinity()
                                                                : std::numeric_limits<K>::max());
  NAX_UNROLL
  for (int i = 0; i < count; ++i) v[i] = L::load(most, some_lanes<K>(n - i * w), x + i * w);
  if constexpr (std::is_same_v<K, float> && count < L::width) {
    // Few registers wait for each step's result, and comparing whole numbers takes the least time.
    NAX_UNROLL
    for (int i = 0; i < count; ++i) v[i] = exchange_key(v[i]);
    sort_registers<std::int32_t, count>(v);
    NAX_UNROLL
    for (int i = 0; i < count; ++i) v[i] = exchange_key(v[i]);
  } else {
    sort_registers<K, count>(v);
  }
  NAX_UNROLL
  for (int i = 0; i < count; ++i) L::store(x + i * w, some_lanes<K>(n - i * w), v[i]);
}

template <class K>
inline constexpr std::int64_t block_sort_most = 16 * SortLanes<K>::width;

template <class K>
void sort_small(K* x, std::int64_t n) {
  constexpr std::int64_t w = SortLanes<K>::width;
  if (n <= 1) return;
  if (n <= w) return sort_block<K, 1>(x, n);
  if (n <= 2 * w) return sort_block<K, 2>(x, n);
  if (n <= 4 * w) return sort_block<K, 4>(x, n);
  if (n <= 8 * w) return sort_block<K, 8>(x, n);
  sort_block<K, 16>(x, n);
}

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
      const int count = __builtin_popcount(m);
      right -= w - count;
      L::store(x + left, L::compress(m, v[i]));
      L::compress_store(x + right, static_cast<typename L::Mask>(~m), lanes(w - count), v[i]);
      left += count;
    }
  }
  const auto put = [&](__m512i v) {
    const auto m = first(v);
    const int count = __builtin_popcount(m);
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
    const std::int64_t count = __builtin_popcount(m), others = __builtin_popcount(live) - count;
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

// The same from one run to another: what is not below comes last, backward. -1 where there is a NaN, which
// has no place.
template <class K>
std::int64_t partition_copy(const K* from, K* to, std::int64_t n, K pivot_) {
  using L = SortLanes<K>;
  constexpr std::int64_t w = L::width, step = 4 * w;
  constexpr std::int64_t ahead = 16;  // registers: nobody has read what is written, so it is fetched early
  const __m512i pivot = L::broadcast(pivot_);
  std::int64_t left = 0, right = n, i = 0;
  typename L::Mask nan = 0;
  // As much is unread as there is room between left and right.
  const auto put = [&](__m512i v) __attribute__((always_inline)) {
    const auto m = L::template below<false>(v, pivot);
    const int count = __builtin_popcount(m);
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
      __builtin_prefetch(to + left + (ahead + r) * w, 1);
      __builtin_prefetch(to + right - (ahead + r) * w, 1);
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
inline int sort_depth(std::int64_t n) {
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
}  // namespace nax::cpu::detail

#endif
