#pragma once

// Sorting of up to 16 registers of AVX-512, numbers of 32 and 64 bits: each is sorted by bitonic steps, then
// they are merged two by two, also by bitonic steps; where there are as many as lanes, columns are sorted by
// a network and rows made of them.

#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/core/compiler.hpp"

#ifdef NAX_AVX512

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

NAX_BEGIN
namespace cpu::detail {
inline namespace NAX_SIMD_ABI {

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
  // `count` lanes, all low ones: as many as m has. In a register, then stored: Zen 4 takes a hundred cycles
  // to compress to memory, others no fewer than for these two.
  static void compress_store(K* to, Mask m, Mask count, __m512i x) { store(to, count, compress(m, x)); }
  static __m512i permute(const void* from, __m512i x) {
    if constexpr (narrow)
      return _mm512_maskz_permutexvar_epi32(all, _mm512_load_si512(from), x);
    else
      return _mm512_maskz_permutexvar_epi64(all, _mm512_load_si512(from), x);
  }
  static __m512i permute(const void* from, __m512i x, __m512i y) {
    if constexpr (narrow)
      return _mm512_maskz_permutex2var_epi32(all, x, _mm512_load_si512(from), y);
    else
      return _mm512_maskz_permutex2var_epi64(all, x, _mm512_load_si512(from), y);
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

// Blocks of so many bytes, two by two: the first one, or the second, of each two in a, then in b.
template <int bytes, bool second>
[[gnu::always_inline]] inline __m512i one_of_two(__m512i a, __m512i b) {
  if constexpr (bytes == 32)
    return _mm512_maskz_shuffle_i64x2(0xFF, a, b, second ? 0xEE : 0x44);
  else if constexpr (bytes == 16)
    return _mm512_maskz_shuffle_i64x2(0xFF, a, b, second ? 0xDD : 0x88);
  else if constexpr (bytes == 8)  // (here and below: within each quarter of the registers)
    return second ? _mm512_maskz_unpackhi_epi64(0xFF, a, b) : _mm512_maskz_unpacklo_epi64(0xFF, a, b);
  else
    return _mm512_castps_si512(_mm512_maskz_shuffle_ps(0xFFFF, _mm512_castsi512_ps(a), _mm512_castsi512_ps(b),
                                                       second ? 0xDD : 0x88));
}

// Where lane i of register r is after all steps of merge_two: each has put one bit of i in the place of r.
template <class Index>
struct MergedLanes {
  static constexpr int width = 64 / sizeof(Index);
  alignas(64) Index at[2][width] = {};
  constexpr MergedLanes() {
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < width; ++i) {
        const int bit[] = {i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1};
        at[r][i] = static_cast<Index>(width == 16 ? bit[0] << 4 | bit[3] << 3 | r << 2 | bit[1] << 1 | bit[2]
                                                  : bit[0] << 3 | bit[2] << 2 | r << 1 | bit[1]);
      }
  }
};
template <class K>
inline constexpr MergedLanes<std::conditional_t<sizeof(K) == 4, std::int32_t, std::int64_t>> merged_lanes{};

// Does as merge_lanes, for two registers: a step brings the lanes that it compares into the same places of
// two registers, so that one min and one max serve both.
template <class K, int bytes = 32>
[[gnu::always_inline]] inline void merge_two(__m512i& a, __m512i& b) {
  using L = SortLanes<K>;
  const __m512i x = one_of_two<bytes, false>(a, b), y = one_of_two<bytes, true>(a, b);
  const __m512i low = L::min(x, y), high = L::max(y, x);
  if constexpr (bytes > sizeof(K)) {
    a = low;
    b = high;
    merge_two<K, bytes / 2>(a, b);
  } else {
    a = L::permute(merged_lanes<K>.at[0], low, high);
    b = L::permute(merged_lanes<K>.at[1], low, high);
  }
}

// Merges between registers, `distance` of them apart.
template <class K, int distance, int count>
[[gnu::always_inline]] inline void merge_registers(__m512i* x) {
  using L = SortLanes<K>;
  if constexpr (distance == 0) {
    NAX_UNROLL
    for (int i = 0; i < count; i += 2) merge_two<K>(x[i], x[i + 1]);
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

// As many registers as they have lanes: sorts the columns, then makes rows of them.
template <class K, int... step>
[[gnu::always_inline]] inline void sort_columns(__m512i* x, std::integer_sequence<int, step...>) {
  using L = SortLanes<K>;
  constexpr auto& network = sort_network<L::width>;
  const auto exchange = [x](int low, int high) NAX_INLINE_LAMBDA {
    const __m512i a = x[low], b = x[high];
    x[low] = L::min(b, a);
    x[high] = L::max(a, b);
  };
  (exchange(network.low[step], network.high[step]), ...);
  using R = simd::Registers<std::conditional_t<sizeof(K) == 4, float, double>>;
  typename R::type rows[L::width];
  NAX_UNROLL
  for (int i = 0; i < L::width; ++i) {
    if constexpr (sizeof(K) == 4)
      rows[i] = _mm512_castsi512_ps(x[i]);
    else
      rows[i] = _mm512_castsi512_pd(x[i]);
  }
  R::transpose(rows);
  NAX_UNROLL
  for (int i = 0; i < L::width; ++i) {
    if constexpr (sizeof(K) == 4)
      x[i] = _mm512_castps_si512(rows[i]);
    else
      x[i] = _mm512_castpd_si512(rows[i]);
  }
}

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

}  // namespace NAX_SIMD_ABI
}  // namespace cpu::detail
NAX_END

#endif
