#pragma once

#include "nax/backend/cpu/reducers.hpp"
#include "nax/backend/cpu/stream.hpp"
#include "nax/core/thread_pool.hpp"

// Running sums and products of contiguous rows, a packet at a time: within a packet by doubling steps, from
// packet to packet by a carry, whose chain is one operation long.
namespace nax::inline NAX_ABI::cpu {
inline namespace NAX_SIMD_ABI {

#if defined(EIGEN_VECTORIZE_AVX512) || defined(EIGEN_VECTORIZE_AVX2)
template <class T>
inline constexpr bool scans_packets = simd::has_packet<T>;
#else
template <class T>
inline constexpr bool scans_packets = false;
#endif

}  // namespace NAX_SIMD_ABI

namespace detail {
inline namespace NAX_SIMD_ABI {

#if defined(EIGEN_VECTORIZE_AVX512)
// Lane i is lane i - by of x, the first `by` lanes are those of `fill`.
template <int by, class T>
simd::Packet<T> shift_lanes(simd::Packet<T> x, simd::Packet<T> fill) {
  if constexpr (std::is_same_v<T, float>)
    return simd::Packet<T>(_mm512_castsi512_ps(_mm512_maskz_alignr_epi32(
        simd::detail::all_lanes<T>, _mm512_castps_si512(x.raw), _mm512_castps_si512(fill.raw), 16 - by)));
  else
    return simd::Packet<T>(_mm512_castsi512_pd(_mm512_maskz_alignr_epi64(
        simd::detail::all_lanes<T>, _mm512_castpd_si512(x.raw), _mm512_castpd_si512(fill.raw), 8 - by)));
}
template <class T>
simd::Packet<T> last_lane(simd::Packet<T> x) {
  if constexpr (std::is_same_v<T, float>)
    return simd::Packet<T>(
        _mm512_maskz_permutexvar_ps(simd::detail::all_lanes<T>, _mm512_set1_epi32(15), x.raw));
  else
    return simd::Packet<T>(
        _mm512_maskz_permutexvar_pd(simd::detail::all_lanes<T>, _mm512_set1_epi64(7), x.raw));
}
#elif defined(EIGEN_VECTORIZE_AVX2)
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

template <class Op, bool reverse, bool streaming, class T>
void scan_row(const T* x, T* out, std::int64_t n) {
  using P = simd::Packet<T>;
  constexpr std::int64_t w = P::size;
  // Adding 0 would make -0 positive.
  const T neutral = std::is_same_v<Op, reduce_op::Sum<T>> ? T(-0.0) : Op::identity();
  const P identity(neutral);
  P carry = identity;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) {
    const std::int64_t at = reverse ? n - w - i : i;
    P v = P::load(x + at);
    if constexpr (reverse) v = simd::reverse(v);
    v = scan_packet<Op, 1>(v, identity);
    P sum = Op::join(v, carry);
    if constexpr (reverse) sum = simd::reverse(sum);
    if constexpr (streaming)
      stream(out + at, sum);
    else
      sum.store(out + at);
    carry = Op::join(carry, last_lane(v));
  }
  T last[w];
  carry.store(last);
  for (T sum = last[0]; i < n; ++i) {
    const std::int64_t at = reverse ? n - 1 - i : i;
    out[at] = sum = Op::join(sum, x[at]);
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
}  // namespace nax::inline NAX_ABI::cpu
