#pragma once

#include <algorithm>
#include <vector>

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/loops/windows.hpp"

// The extrema of windows that slide along an array's axes.
NAX_BEGIN
namespace cpu {

// The n elements of a tap, at `offset`, become the best where they win.
template <class T, class Better>
inline void keep_better(const T* values, std::int64_t offset, std::int64_t n, const Better& better,
                        T* __restrict best, std::int64_t* __restrict at) {
  for (std::int64_t i = 0; i < n; ++i) {
    const bool wins = better(values[i], best[i]);
    best[i] = wins ? values[i] : best[i];
    at[i] = wins ? offset + i : at[i];
  }
}

// Of one packet of neighbours, the first at `from`: the positions of their best elements among those at
// `taps` from them.
template <class T, class Better>
void best_of_packet(const T* x, std::int64_t from, const std::vector<std::int64_t>& taps,
                    const Better& better, std::int64_t* to) {
  using P = simd::Packet<T>;
  P best = P::load(x + taps[0] + from), first(T(0));  // numbers of taps, which T holds exactly
  for (std::size_t tap = 1; tap < taps.size(); ++tap) {
    const P value = P::load(x + taps[tap] + from);
    const auto wins = better(value, best);
    best = select(wins, value, best);
    first = select(wins, P(static_cast<T>(tap)), first);
  }
  alignas(P) T numbers[P::size];
  first.store(numbers);
  for (std::int64_t i = 0; i < P::size; ++i) to[i] = taps[static_cast<std::size_t>(numbers[i])] + from + i;
}

// For each window the position (in row-major x) of its best element: the first of equal ones, NaN before all
// others; -1 where a window holds none. Axes behind the last one that windows move along
// go as one run, in pieces that stay in registers. Of windows wholly within x each tap is a step from the
// first.
template <class T, class Better>
void best_in_windows(const loops::Windows& s, std::int64_t examples, const T* all, std::int64_t* to,
                     const Better& better) {
  constexpr std::int64_t piece = 16, most_numbers = 1 << 24;
  std::int64_t size = 1, run = 1, places = 1, taps = 1;
  for (const std::int64_t n : s.in) size *= n;
  std::size_t axes = s.in.size();
  while (axes > 0 && s.window[axes - 1] == 1 && s.strides[axes - 1] == 1 && s.base[axes - 1] == 1 &&
         s.low[axes - 1] == 0 && s.high[axes - 1] == 0)
    run *= s.in[--axes];
  for (std::size_t axis = 0; axis < axes; ++axis) places *= s.out[axis], taps *= s.window[axis];
  // The offset of a tap of the window at p; -1 in the padding and between elements.
  const auto offset_of = [&](const std::int64_t* p, std::int64_t tap) {
    std::int64_t offset = 0, stride = run;
    for (std::size_t axis = axes; axis-- > 0; tap /= s.window[axis]) {
      const std::int64_t q =
          p[axis] * s.strides[axis] + tap % s.window[axis] * s.dilation[axis] - s.low[axis];
      if (q < 0 || q % s.base[axis] != 0 || q / s.base[axis] >= s.in[axis]) return std::int64_t{-1};
      offset += q / s.base[axis] * stride;
      stride *= s.in[axis];
    }
    return offset;
  };
  // p's first tap where the window lies within x and reads each element it passes; -1 where not.
  const auto origin_of = [&](const std::int64_t* p) {
    std::int64_t origin = 0, stride = run;
    for (std::size_t axis = axes; axis-- > 0; stride *= s.in[axis]) {
      const std::int64_t q = p[axis] * s.strides[axis] - s.low[axis];
      if (s.base[axis] != 1 || q < 0 || q + (s.window[axis] - 1) * s.dilation[axis] >= s.in[axis])
        return std::int64_t{-1};
      origin += q * stride;
    }
    return origin;
  };
  std::vector<std::int64_t> steps(static_cast<std::size_t>(taps));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::int64_t left = tap, stride = run;
    for (std::size_t axis = axes; axis-- > 0; left /= s.window[axis], stride *= s.in[axis])
      steps[static_cast<std::size_t>(tap)] += left % s.window[axis] * s.dilation[axis] * stride;
  }
  parallel_for(examples * places, 1 + (1 << 13) / (taps * run + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::int64_t> seen;  // the offsets of the taps that read, of one window
                 std::int64_t p[16], rest = begin % places;
                 for (std::size_t axis = axes; axis-- > 0; rest /= s.out[axis]) p[axis] = rest % s.out[axis];
                 for (std::int64_t k = begin; k < end; ++k) {
                   const T* const x0 = all + k / places * size;
                   std::int64_t* const result_at = to + k * run;
                   const std::int64_t origin = origin_of(p);
                   seen.clear();
                   for (std::int64_t tap = 0; tap < taps; ++tap) {
                     const std::int64_t offset =
                         origin < 0 ? offset_of(p, tap) : origin + steps[static_cast<std::size_t>(tap)];
                     if (offset >= 0) seen.push_back(offset);
                   }
                   std::int64_t r = 0;
                   if constexpr (simd::has_packet<T>)
                     if (!seen.empty() && taps <= most_numbers)
                       for (; r + simd::Packet<T>::size <= run; r += simd::Packet<T>::size)
                         best_of_packet(x0, r, seen, better, result_at + r);
                   for (; r < run; r += piece) {
                     const std::int64_t n = std::min(piece, run - r);
                     if (seen.empty()) {
                       std::fill(result_at + r, result_at + r + n, std::int64_t{-1});
                       continue;
                     }
                     T best[piece];
                     std::int64_t at[piece];
                     for (std::int64_t i = 0; i < n; ++i)
                       best[i] = x0[seen[0] + r + i], at[i] = seen[0] + r + i;
                     for (std::size_t tap = 1; tap < seen.size(); ++tap)
                       if (n == piece)
                         keep_better(x0 + seen[tap] + r, seen[tap] + r, piece, better, best, at);
                       else
                         keep_better(x0 + seen[tap] + r, seen[tap] + r, n, better, best, at);
                     std::copy(at, at + n, result_at + r);
                   }
                   for (std::size_t axis = axes; axis-- > 0 && ++p[axis] == s.out[axis];) p[axis] = 0;
                 }
               });
}

struct WindowKernel {
  static constexpr const char* name = "max_pool";
  // Of `examples` row-major arrays.
  using Function = void(const loops::Windows&, bool greatest, std::int64_t examples, const void*,
                        std::int64_t*);
  template <class T>
  static void run(const loops::Windows& windows, bool greatest, std::int64_t examples, const void* from_,
                  std::int64_t* to) {
    const T* const from = static_cast<const T*>(from_);
    if (greatest)
      best_in_windows(windows, examples, from, to, [](auto a, auto b) { return (a > b) | (a != a); });
    else
      best_in_windows(windows, examples, from, to, [](auto a, auto b) { return (a < b) | (a != a); });
  }
};

}  // namespace cpu
NAX_END
