#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/backend/cpu/packets/truth.hpp"

// Reductions of many short runs: the last axis of an array of a few columns. A run of its own would cost a
// call and a sum across a packet's lanes; here a packet holds one element of each of several runs.
//
// A run is taken a packet's width of elements at a time. These are joined as a tree, the trees one after the
// other: the order depends on the length of a run only, not on the runs beside it.
NAX_BEGIN
namespace cpu::detail {

inline constexpr std::int64_t most_of_short_run = 64;

// Reads packets of consecutive runs of one length. The last one of a run ends with it, where the run has that
// many elements, and is read beyond it where not; lanes that are no part of the run, or were joined before,
// are the identity there.
template <class Op, class T>
class RunsOfPackets {
  using P = simd::Packet<T>;
  static constexpr int w = P::size;

 public:
  explicit RunsOfPackets(std::int64_t n) : n_(n), last_(n < w ? 0 : n - w) {
    T lanes[w];
    for (int l = 0; l < w; ++l) lanes[l] = static_cast<T>(last_ + l);
    const P place = P::load(lanes);
    fresh_ = (place >= P(static_cast<T>(n / w * w))) & (place < P(static_cast<T>(n)));
  }
  // The totals of a packet's width of runs.
  P join(const T* x, std::int64_t stride) const {
    P total(Op::identity());
    for (std::int64_t i = 0; i + w <= n_; i += w)
      total = Op::join(total, tree([&](int l) { return P::load(x + l * stride + i); }));
    if (n_ % w != 0)
      total = Op::join(total, tree([&](int l) {
                         return select(fresh_, P::load(x + l * stride + last_), P(Op::identity()));
                       }));
    return total;
  }

 private:
  template <class Load>
  static P tree(const Load& load) {
    P block[w];
    NAX_UNROLL
    for (int l = 0; l < w; ++l) block[l] = load(l);
    simd::transpose(block);
    NAX_UNROLL
    for (int step = 1; step < w; step *= 2) {
      NAX_UNROLL
      for (int l = 0; l < w; l += 2 * step) block[l] = Op::join(block[l], block[l + step]);
    }
    return block[0];
  }

  std::int64_t n_, last_;
  simd::Mask<T> fresh_;
};

// to[r * to_stride] joins from[r * run_stride + i] for each i < n <= most_of_short_run.
template <class Op, class From>
void combine_short_runs(const void* from_, std::int64_t run_stride, std::int64_t runs, std::int64_t n,
                        void* to_, std::int64_t to_stride) {
  using Acc = typename Op::Acc;
  const From* const from = static_cast<const From*>(from_);
  Acc* const to = static_cast<Acc*>(to_);
  if constexpr (std::is_same_v<Acc, From> && simd::has_packet<From>) {
    using P = simd::Packet<From>;
    constexpr std::int64_t w = P::size;
    const RunsOfPackets<Op, From> packets(n);
    const auto put = [&](std::int64_t r, std::int64_t some, P total) {
      if (to_stride == 1 && some == w) {
        Op::join(P::load(to + r), total).store(to + r);
      } else {
        From totals[w];
        total.store(totals);
        for (std::int64_t l = 0; l < some; ++l) {
          From& sum = to[(r + l) * to_stride];
          sum = Op::join(sum, totals[l]);
        }
      }
    };
    // A short run may be read beyond its end where the next ones lie.
    std::int64_t safe = runs / w * w;
    if (n < w) safe = run_stride == n ? std::max<std::int64_t>(0, (runs - (w - 1) / n) / w * w) : 0;
    std::int64_t r = 0;
    for (; r < safe; r += w) put(r, w, packets.join(from + r * run_stride, run_stride));
    // Others go by way of a copy.
    alignas(64) From copy[w * (most_of_short_run + 1)];
    for (; r < runs; r += w) {
      const std::int64_t some = std::min(w, runs - r);
      std::fill_n(copy, w * n + w, Op::identity());
      for (std::int64_t l = 0; l < some; ++l) std::copy_n(from + (r + l) * run_stride, n, copy + l * n);
      put(r, some, packets.join(copy, n));
    }
  } else {
    constexpr std::int64_t block = 64;
    Acc totals[block];
    for (std::int64_t r = 0; r < runs; r += block) {
      const std::int64_t some = std::min(block, runs - r);
      for (std::int64_t l = 0; l < some; ++l) totals[l] = to[(r + l) * to_stride];
      const From* const x = from + r * run_stride;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t l = 0; l < some; ++l)
          totals[l] = Op::join(totals[l], element_of<Op>(x[l * run_stride + i]));
      for (std::int64_t l = 0; l < some; ++l) to[(r + l) * to_stride] = totals[l];
    }
  }
}

}  // namespace cpu::detail
NAX_END
