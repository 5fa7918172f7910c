#pragma once

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/narrow_divisor.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"

// The extrema of windows with indices of 32 bits, some neighbouring elements of a run in one thread.
NAX_BEGIN
namespace cuda {

// Windows over the axes that they move along; those before are `leads`, those behind a `run`.
template <int most, class Index>
struct WindowLoop {
  Index in[most], window[most], out[most], strides[most], base[most], dilation[most], low[most];
  DivisorOf<Index> by_out[most], by_base[most], by_run, by_leads;
  Index taps = 1, leads = 1, run = 1;
  Index size = 1;    // elements of x for each lead
  Index places = 1;  // windows for each lead and element of the run
};

// As BestInWindows (window_kernels.hpp).
template <class T, int per>
struct BestOfPieces {
  using Index = std::int32_t;
  using A = wide_t<T>;
  using Unit = Piece<per* static_cast<int>(sizeof(T))>;
  WindowLoop<3, Index> s;  // whose runs count pieces
  bool greatest;
  const Unit* from;
  std::int64_t* to;

  constexpr void operator()(std::int64_t i) const {
    Index rest = static_cast<Index>(i), start[3] = {};
    const Index in_run = s.by_run.split(rest);
    for (int axis = 2; axis >= 0; --axis)
      start[axis] = s.by_out[axis].split(rest) * s.strides[axis] - s.low[axis];
    const Unit* const x = from + (rest * s.size + in_run);
    Best best;
    for (Index k0 = 0; k0 < s.window[0]; ++k0) {
      const Index at0 = place(0, start[0] + k0 * s.dilation[0]);
      if (at0 < 0) continue;
      for (Index k1 = 0; k1 < s.window[1]; ++k1) {
        const Index at1 = place(1, start[1] + k1 * s.dilation[1]);
        if (at1 < 0) continue;
        const Index line = (at0 * s.in[1] + at1) * s.in[2];
        for (Index k2 = 0; k2 < s.window[2]; k2 += batch) take_taps(best, x, line, start[2], k2);
      }
    }
    const Index lead = rest - s.by_leads.quotient(rest) * s.leads, begin = lead * s.size + in_run;
    std::int64_t found[per] = {};
    NAX_GPU_UNROLL
    for (int j = 0; j < per; ++j) found[j] = best.at[j] < 0 ? -1 : std::int64_t{begin + best.at[j]} * per + j;
    if constexpr (per == 1) {
      to[i] = found[0];
    } else {
      NAX_GPU_UNROLL
      for (int j = 0; j < per; j += 2) {
        Piece<piece_bytes> pair;
        pair.set(0, found[j]), pair.set(1, found[j + 1]);
        pair.store(reinterpret_cast<char*>(to + i * per + j));
      }
    }
  }

 private:
  static constexpr int batch = 4;  // taps whose elements are loaded before the first is compared
  struct Best {
    A value[per] = {};
    Index at[per] = {};
    constexpr Best() {
      for (int j = 0; j < per; ++j) at[j] = -1;
    }
  };

  // The place on an axis of x that stands at q; -1 in the padding and between elements.
  constexpr Index place(int axis, Index q) const {
    if (q < 0) return -1;
    if (s.base[axis] != 1) {
      const Index whole = s.by_base[axis].quotient(q);
      if (whole * s.base[axis] != q) return -1;
      q = whole;
    }
    return q < s.in[axis] ? q : -1;
  }
  // Compares with what taps k, k + 1, ... of a line read.
  constexpr void take_taps(Best& best, const Unit* x, Index line, Index start, Index k) const {
    Unit parts[batch];
    Index offsets[batch] = {};
    NAX_GPU_UNROLL
    for (int j = 0; j < batch; ++j) {
      const Index at = k + j < s.window[2] ? place(2, start + (k + j) * s.dilation[2]) : -1;
      offsets[j] = at < 0 ? -1 : (line + at) * s.run;
      if (offsets[j] >= 0) parts[j] = x[offsets[j]];
    }
    NAX_GPU_UNROLL
    for (int j = 0; j < batch; ++j) {
      if (offsets[j] < 0) continue;
      NAX_GPU_UNROLL
      for (int e = 0; e < per; ++e) {
        const A value = static_cast<A>(parts[j].template get<T>(e));
        if (best.at[e] < 0 || (greatest ? value > best.value[e] : value < best.value[e]) || value != value) {
          best.value[e] = value;
          best.at[e] = offsets[j];
        }
      }
    }
  }
};

}  // namespace cuda
NAX_END
