#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/core/layout.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/loops/correlation.hpp"
#include "nax/loops/lane.hpp"

// The loop of 1-d correlations: those of sequences, and convolutions of networks that have one channel.
NAX_BEGIN
namespace cpu {

using loops::Correlation;
template <class T>
struct CorrelationRow {
  const T *x, *w;
  T* out;
};

// sums[i] += y[i] w[0] + ... + y[i + taps - 1] w[taps - 1], in this order.
template <class T, class Lane>
void add_taps(const Lane* y, const T* w, std::int64_t stride, std::int64_t taps, Lane* sums,
              std::int64_t count) {
  const auto weight = [&](std::int64_t k) { return static_cast<Lane>(w[k * stride]); };
  if constexpr (simd::has_packet<Lane>) {
    using P = simd::Packet<Lane>;
    constexpr std::int64_t wide = 4 * P::size;
    std::int64_t i = 0;
    for (; i + wide <= count; i += wide) {
      P s[4];
      for (int j = 0; j < 4; ++j) s[j] = P::load(sums + i + j * P::size);
      for (std::int64_t k = 0; k < taps; ++k) {
        const P each(weight(k));
        for (int j = 0; j < 4; ++j) s[j] = simd::fma(each, P::load(y + i + k + j * P::size), s[j]);
      }
      for (int j = 0; j < 4; ++j) s[j].store(sums + i + j * P::size);
    }
    for (; i < count; i += P::size) {
      const std::int64_t n = std::min<std::int64_t>(P::size, count - i);
      P s = P::load(sums + i, n);
      for (std::int64_t k = 0; k < taps; ++k) s = simd::fma(P(weight(k)), P::load(y + i + k, n), s);
      s.store(sums + i, n);
    }
    return;
  }
  std::int64_t k = 0;
  for (; k + 4 <= taps; k += 4, y += 4) {
    const Lane a = weight(k), b = weight(k + 1), c = weight(k + 2), d = weight(k + 3);
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] = static_cast<Lane>(sums[i] + a * y[i] + b * y[i + 1] + c * y[i + 2] + d * y[i + 3]);
  }
  for (; k < taps; ++k, ++y) {
    const Lane a = weight(k);
    for (std::int64_t i = 0; i < count; ++i) sums[i] = static_cast<Lane>(sums[i] + a * y[i]);
  }
}

// Correlates `rows` rows; row(r) gives the addresses of row r. Long rows are computed in pieces, each by one
// thread. Sums of more than 64 taps are added up in the wide type.
template <class T, class Rows>
void correlate(const Correlation& c, std::int64_t rows, const Rows& row) {
  using Lane = nax::detail::lane_t<T>;
  using Wide = wide_t<Lane>;
  constexpr std::int64_t block = 64, piece = 2048;
  const std::int64_t pieces = (c.length + piece - 1) / piece, most = std::min(c.length, piece);
  parallel_for(rows * pieces, 1 + (std::int64_t{1} << 15) / (most * c.taps + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 const Scratch<Lane> padded(most + c.taps), sums(most);
                 const Scratch<Wide> totals(c.taps > block ? most : 0);
                 for (std::int64_t at = begin; at < end; ++at) {
                   const CorrelationRow<T> r = row(at / pieces);
                   const std::int64_t first = at % pieces * piece, count = std::min(piece, c.length - first);
                   // Element j of y stands for element j + shift of x.
                   const std::int64_t shift = first - c.low, width = count + c.taps - 1;
                   const std::int64_t from = std::clamp<std::int64_t>(-shift, 0, width),
                                      to = std::clamp<std::int64_t>(c.n - shift, from, width);
                   const Lane* y = padded.data();
                   bool in_place = false;
                   if constexpr (std::is_same_v<T, Lane>)
                     if (c.x_stride == 1 && from == 0 && to == width) in_place = true, y = r.x + shift;
                   if (!in_place) {
                     std::fill(padded.data(), padded.data() + from, Lane(0));
                     for (std::int64_t j = from; j < to; ++j)
                       padded.data()[j] = static_cast<Lane>(r.x[(j + shift) * c.x_stride]);
                     std::fill(padded.data() + to, padded.data() + width, Lane(0));
                   }
                   std::fill(sums.data(), sums.data() + count, Lane(0));
                   for (std::int64_t k = 0; k < c.taps; k += block) {
                     if (k > 0) std::fill(sums.data(), sums.data() + count, Lane(0));
                     add_taps(y + k, r.w + k * c.w_stride, c.w_stride, std::min(block, c.taps - k),
                              sums.data(), count);
                     if (c.taps > block)
                       for (std::int64_t i = 0; i < count; ++i)
                         totals.data()[i] = static_cast<Wide>((k == 0 ? Wide(0) : totals.data()[i]) +
                                                              static_cast<Wide>(sums.data()[i]));
                   }
                   for (std::int64_t i = 0; i < count; ++i)
                     r.out[first + i] = c.taps > block ? static_cast<T>(static_cast<Lane>(totals.data()[i]))
                                                       : static_cast<T>(sums.data()[i]);
                 }
               });
}

// Correlates the last axes of batches; strides over these are in elements.
struct CorrelateKernel {
  static constexpr const char* name = "convolve";
  using Function = void(const Correlation&, const Dims& batches, const Dims& x_strides, const Dims& w_strides,
                        const void* x, const void* w, void* out);
  template <class T>
  static void run(const Correlation& c, const Dims& batches, const Dims& x_strides, const Dims& w_strides,
                  const void* x, const void* w, void* out) {
    std::int64_t rows = 1;
    for (const std::int64_t extent : batches) rows *= extent;
    correlate<T>(c, rows, [&](std::int64_t b) {
      return CorrelationRow<T>{static_cast<const T*>(x) + nax::detail::offset_at(b, batches, x_strides),
                               static_cast<const T*>(w) + nax::detail::offset_at(b, batches, w_strides),
                               static_cast<T*>(out) + b * c.length};
    });
  }
};

}  // namespace cpu
NAX_END
