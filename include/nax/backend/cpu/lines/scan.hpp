#pragma once

#include "nax/backend/cpu/packets/packet_more.hpp"
#include "nax/backend/cpu/packets/stream.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"
#include "nax/core/thread_pool.hpp"

// Running sums and products of contiguous rows, a packet at a time: within a packet by doubling steps, from
// packet to packet by a carry, whose chain is one operation long.
//
// Sums go block by block: what came before a block is a wide number, in two parts of the elements' type. The
// carry begins as the smaller one, and the larger is added to all.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

#if defined(NAX_AVX512) || defined(NAX_AVX2)
template <class T>
inline constexpr bool scans_packets = simd::has_packet<T>;
#else
template <class T>
inline constexpr bool scans_packets = false;
#endif

}  // namespace NAX_SIMD_ABI

namespace detail {
inline namespace NAX_SIMD_ABI {

#if defined(NAX_AVX512)
// Lane i is lane i - by of x, the first `by` lanes are those of `fill`.
template <int by, class T>
simd::Packet<T> shift_lanes(simd::Packet<T> x, simd::Packet<T> fill) {
  if constexpr (std::is_same_v<T, float>)
    return simd::Packet<T>(_mm512_castsi512_ps(_mm512_maskz_alignr_epi32(
        simd::Registers<T>::on, _mm512_castps_si512(x.raw), _mm512_castps_si512(fill.raw), 16 - by)));
  else
    return simd::Packet<T>(_mm512_castsi512_pd(_mm512_maskz_alignr_epi64(
        simd::Registers<T>::on, _mm512_castpd_si512(x.raw), _mm512_castpd_si512(fill.raw), 8 - by)));
}
template <class T>
simd::Packet<T> last_lane(simd::Packet<T> x) {
  if constexpr (std::is_same_v<T, float>)
    return simd::Packet<T>(_mm512_maskz_permutexvar_ps(simd::Registers<T>::on, _mm512_set1_epi32(15), x.raw));
  else
    return simd::Packet<T>(_mm512_maskz_permutexvar_pd(simd::Registers<T>::on, _mm512_set1_epi64(7), x.raw));
}
#elif defined(NAX_AVX2)
template <int by, class T>
simd::Packet<T> shift_lanes(simd::Packet<T> x, simd::Packet<T> fill) {
  if constexpr (std::is_same_v<T, float>) {
    const __m256i from = _mm256_sub_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(by));
    return simd::Packet<T>(_mm256_blend_ps(_mm256_permutevar8x32_ps(x.raw, from), fill.raw, (1 << by) - 1));
  } else {
    constexpr int from = by == 1 ? 0x90 : 0x40;  // lanes 0 0 1 2, 0 0 0 1
    return simd::Packet<T>(_mm256_blend_pd(_mm256_permute4x64_pd(x.raw, from), fill.raw, (1 << by) - 1));
  }
}
template <class T>
simd::Packet<T> last_lane(simd::Packet<T> x) {
  if constexpr (std::is_same_v<T, float>)
    return simd::Packet<T>(_mm256_permutevar8x32_ps(x.raw, _mm256_set1_epi32(7)));
  else
    return simd::Packet<T>(_mm256_permute4x64_pd(x.raw, 0xFF));
}
#endif

template <class Op, int by, class T>
simd::Packet<T> scan_packet(simd::Packet<T> x, simd::Packet<T> identity) {
  if constexpr (by < simd::Packet<T>::size) {
    return scan_packet<Op, 2 * by>(Op::join(x, shift_lanes<by>(x, identity)), identity);
  } else {
    return x;
  }
}

// A running sum in two parts.
template <class T>
struct RunningSum {
  T high = T(-0.), low = T(-0.);  // what adds nothing, not even a sign
  // `carry`: `low` and what came since.
  void advance(T carry) {
    const T sum = high + carry, added = sum - high;
    const T over = ((sum - added) - high) + (added - carry);  // what rounding made of it, exactly
    high = sum;
    low = over == over ? -over : T(-0.);  // infinities have nothing below them
  }
};

template <class Op, bool reverse, bool streaming, class T>
void scan_row(const T* x, T* out, std::int64_t n) {
  using P = simd::Packet<T>;
  constexpr std::int64_t w = P::size;
  constexpr bool in_blocks = Blocks<Op>::rounds;
  const std::int64_t block = in_blocks ? 128 * w : n;
  // Adding 0 would make -0 positive.
  const T neutral = std::is_same_v<Op, reduce_op::Sum<T>> ? T(-0.0) : Op::identity();
  const P identity(neutral);
  const auto scanned = [&](std::int64_t i) {
    P v = P::load(x + (reverse ? n - w - i : i));
    if constexpr (reverse) v = simd::reverse(v);
    return scan_packet<Op, 1>(v, identity);
  };
  const auto put = [&](std::int64_t i, P sum) {
    if constexpr (reverse) sum = simd::reverse(sum);
    if constexpr (streaming)
      stream(out + (reverse ? n - w - i : i), sum);
    else
      sum.store(out + (reverse ? n - w - i : i));
  };
  RunningSum<T> before_block;
  P carry = identity;
  std::int64_t i = 0;
  while (i + w <= n) {
    const P high(before_block.high);
    const auto before = [&] {
      if constexpr (in_blocks)
        return Op::join(high, carry);
      else
        return carry;
    };
    const std::int64_t end = n - i < block ? n : i + block;
    for (; i + 2 * w <= end; i += 2 * w) {
      const P first = scanned(i), second = Op::join(scanned(i + w), last_lane(first)), both = before();
      put(i, Op::join(first, both));
      put(i + w, Op::join(second, both));
      carry = Op::join(carry, last_lane(second));
    }
    if (i + w <= end) {
      const P v = scanned(i);
      put(i, Op::join(v, before()));
      carry = Op::join(carry, last_lane(v));
      i += w;
    }
    if constexpr (in_blocks) {
      before_block.advance(simd::uniform(carry));
      carry = P(before_block.low);
    }
  }
  for (T sum = simd::uniform(carry); i < n; ++i) {
    const std::int64_t at = reverse ? n - 1 - i : i;
    sum = Op::join(sum, x[at]);
    if constexpr (in_blocks)
      out[at] = before_block.high + sum;
    else
      out[at] = sum;
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// out[r, i] = x[r, 0] op ... op x[r, i], from the other end for `reverse`.
template <class Op, class T>
void scan_rows(const T* x, T* out, std::int64_t rows, std::int64_t n, bool reverse) {
  if (n == 0) return;
  const std::int64_t row_bytes = n * static_cast<std::int64_t>(sizeof(T));
  const bool streaming = can_stream && rows * row_bytes >= streamed_result_bytes &&
                         row_bytes % line_bytes == 0 && bytes_to_line(out) == 0;
  const auto row =
      reverse ? (streaming ? detail::scan_row<Op, true, true, T> : detail::scan_row<Op, true, false, T>)
              : (streaming ? detail::scan_row<Op, false, true, T> : detail::scan_row<Op, false, false, T>);
  parallel_for(rows, 1 + (std::int64_t{1} << 15) / n, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) row(x + r * n, out + r * n, n);
    if (streaming) finish_streams();
  });
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
