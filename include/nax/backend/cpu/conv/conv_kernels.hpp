#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "nax/backend/cpu/conv/conv.hpp"
#include "nax/backend/cpu/conv/correlation.hpp"
#include "nax/backend/cpu/conv/winograd.hpp"
#include "nax/backend/cpu/gemm/gemm.hpp"
#include "nax/backend/cpu/maps/transpose.hpp"

NAX_BEGIN
namespace cpu {
namespace conv_detail {

// Where on an axis of x tap k of output p reads; -1 between elements and in the padding.
inline std::int64_t position(const ConvGeometry& s, int axis, std::int64_t p, std::int64_t k) {
  const std::int64_t q = p * s.stride[axis] + k * s.rhs[axis] - s.low[axis];
  if (q < 0 || q > (s.in[axis] - 1) * s.lhs[axis]) return -1;
  if (s.lhs[axis] == 1) return q;
  return q % s.lhs[axis] == 0 ? q / s.lhs[axis] : -1;
}

// f(offset in x of that channel group or -1, offset in the patch, number of elements) for the pieces of the
// patch that a row of y sees. Taps side by side in x are one piece.
template <class F>
void for_each_piece(const ConvGeometry& s, std::int64_t row, std::int64_t group, const F& f) {
  const std::int64_t cg = s.c / s.groups;
  std::int64_t p[3], rest = row;
  for (int axis = 3; axis-- > 0; rest /= s.out[axis]) p[axis] = rest % s.out[axis];
  const std::int64_t image = rest * s.in[0] * s.in[1] * s.in[2];
  // Taps of the last axis that lie within x, where they follow one another.
  const bool runs = s.groups == 1 && s.lhs[2] == 1 && s.rhs[2] == 1;
  const std::int64_t start = p[2] * s.stride[2] - s.low[2];
  const std::int64_t first = std::clamp<std::int64_t>(-start, 0, s.kernel[2]),
                     last = std::clamp<std::int64_t>(s.in[2] - start, first, s.kernel[2]);
  std::int64_t at = 0;
  for (std::int64_t kd = 0; kd < s.kernel[0]; ++kd) {
    const std::int64_t d = position(s, 0, p[0], kd);
    for (std::int64_t kh = 0; kh < s.kernel[1]; ++kh) {
      const std::int64_t h = d < 0 ? -1 : position(s, 1, p[1], kh);
      const std::int64_t line = image + (d * s.in[1] + h) * s.in[2];
      if (h < 0) {
        f(std::int64_t{-1}, at, s.kernel[2] * cg);
        at += s.kernel[2] * cg;
      } else if (runs) {
        if (first > 0) f(std::int64_t{-1}, at, first * cg);
        if (last > first) f((line + start + first) * s.c, at + first * cg, (last - first) * cg);
        if (last < s.kernel[2]) f(std::int64_t{-1}, at + last * cg, (s.kernel[2] - last) * cg);
        at += s.kernel[2] * cg;
      } else {
        for (std::int64_t kw = 0; kw < s.kernel[2]; ++kw, at += cg) {
          const std::int64_t v = position(s, 2, p[2], kw);
          f(v < 0 ? v : (line + v) * s.c + group * cg, at, cg);
        }
      }
    }
  }
}

// The patches of rows [first, first + count) as a matrix, one a row.
template <class T>
void gather_patches(const ConvGeometry& s, const T* x, std::int64_t group, std::int64_t first,
                    std::int64_t count, T* to) {
  const std::int64_t width = s.taps() * (s.c / s.groups);
  parallel_for(count, 1 + (1 << 14) / (width + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      T* const patch = to + r * width;
      for_each_piece(s, first + r, group, [&](std::int64_t from, std::int64_t at, std::int64_t n) {
        if (from < 0)
          std::fill(patch + at, patch + at + n, T(0));
        else
          std::memcpy(patch + at, x + from, static_cast<std::size_t>(n) * sizeof(T));
      });
    }
  });
}
// Its transpose: adds the rows of the matrix to x. Rows of one image meet in x, those of different images do
// not.
template <class T>
void scatter_patches(const ConvGeometry& s, const T* from, std::int64_t group, std::int64_t first,
                     std::int64_t count, T* x) {
  const std::int64_t width = s.taps() * (s.c / s.groups), an_image = s.out[0] * s.out[1] * s.out[2];
  const std::int64_t image0 = first / an_image, images = (first + count - 1) / an_image - image0 + 1;
  parallel_for(images, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t low = std::max(first, (image0 + begin) * an_image),
                       high = std::min(first + count, (image0 + end) * an_image);
    for (std::int64_t r = low; r < high; ++r) {
      const T* const patch = from + (r - first) * width;
      for_each_piece(s, r, group, [&](std::int64_t at_x, std::int64_t at, std::int64_t n) {
        if (at_x < 0) return;
        T* const to = x + at_x;
        for (std::int64_t i = 0; i < n; ++i) to[i] += patch[at + i];
      });
    }
  });
}

// Returns how many rows of y one matrix product computes: blocks are of equal size, for each reads all of w.
template <class T>
std::int64_t block_rows(const ConvGeometry& s) {
  const std::int64_t width = s.taps() * (s.c / s.groups);
  const std::int64_t fit = (std::int64_t{1} << 21) / static_cast<std::int64_t>(sizeof(T)) / (width + 1);
  constexpr std::int64_t least = 256;
  return divide_up(s.rows(), divide_up(s.rows(), std::max(fit, least)));
}

// x is its own matrix of patches.
inline bool is_pointwise(const ConvGeometry& s) {
  bool plain = s.groups == 1 && s.taps() == 1;
  for (int axis = 0; axis < 3; ++axis)
    plain = plain && s.stride[axis] == 1 && s.lhs[axis] == 1 && s.low[axis] == 0 && s.in[axis] == s.out[axis];
  return plain;
}
// One channel of x and one of y a group.
inline bool is_depthwise(const ConvGeometry& s) { return s.groups > 1 && s.c == s.groups && s.o == s.groups; }
// One channel and one spatial axis, each place of which is read: a correlation of lines.
inline bool is_correlation(const ConvGeometry& s) {
  bool plain = s.c == 1 && s.o == 1 && s.stride[2] == 1 && s.lhs[2] == 1 && s.rhs[2] == 1;
  for (int axis = 0; axis < 2; ++axis)
    plain = plain && s.in[axis] == 1 && s.kernel[axis] == 1 && s.out[axis] == 1 && s.low[axis] == 0;
  return plain;
}

// f(first channel of x's element, that of the tap's weights, that of y's) for every tap of every row that
// reads.
template <class F>
void for_each_tap(const ConvGeometry& s, std::int64_t first, std::int64_t last, const F& f) {
  for (std::int64_t row = first; row < last; ++row) {
    std::int64_t p[3], rest = row, tap = 0;
    for (int axis = 3; axis-- > 0; rest /= s.out[axis]) p[axis] = rest % s.out[axis];
    for (std::int64_t kd = 0; kd < s.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < s.kernel[1]; ++kh)
        for (std::int64_t kw = 0; kw < s.kernel[2]; ++kw, ++tap) {
          const std::int64_t d = position(s, 0, p[0], kd), h = position(s, 1, p[1], kh),
                             v = position(s, 2, p[2], kw);
          if (d < 0 || h < 0 || v < 0) continue;
          f((((rest * s.in[0] + d) * s.in[1] + h) * s.in[2] + v) * s.c, tap * s.c, row * s.c);
        }
  }
}

// Whether lines of y are sums of products with lines of x: the taps of the last axis read neighbours, and so
// the patches of a line, overlapping, lie in x. Measured: .85 to .96 of the time that gathered patches take,
// where products are not small and w, which each line meets, stays in the second-level cache; else up to 2.5.
template <class T>
bool goes_by_lines(const ConvGeometry& s) {
  if constexpr (simd::has_packet<T>) {
    constexpr std::int64_t least_depth = 96, least_line = 14, most_bytes = 1 << 20;
    return s.groups == 1 && s.stride[2] == 1 && s.lhs[2] == 1 && s.rhs[2] == 1 && s.low[2] >= 0 &&
           s.kernel[2] > 1 && s.kernel[2] * s.c >= least_depth && s.out[2] >= least_line &&
           s.o >= tile_columns<T> && s.taps() * s.c * s.o * std::int64_t{sizeof(T)} <= most_bytes;
  } else {
    return false;
  }
}

template <class T>
void convolve_lines(const ConvGeometry& s, const T* x, const T* w, T* y) {
  const std::int64_t deep = s.kernel[2] * s.c, line = s.in[2] * s.c, result = s.out[2] * s.o;
  const std::int64_t reach = (s.out[2] - 1) * s.c + deep, before = std::min(s.low[2] * s.c, reach),
                     there = std::min(line, reach - before);
  // Holds lines of x for neighbours in y, which see them, too: line i at i % kept, between zeros.
  const std::int64_t seen =
      s.kernel[0] > 1 ? ((s.kernel[0] - 1) * s.rhs[0] + 1) * s.in[1] : (s.kernel[1] - 1) * s.rhs[1] + 1;
  const std::int64_t kept = std::clamp<std::int64_t>(s.in[0] * s.in[1], 1, seen);
  const std::int64_t grain = 1 + (1 << 18) / (s.out[2] * s.taps() * s.c * s.o);
  parallel_for(s.n * s.out[0] * s.out[1], grain, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> lines(kept * reach);
    const Scratch<std::int64_t> held(kept);
    std::fill_n(lines.data(), kept * reach, T(0));
    std::fill_n(held.data(), kept, std::int64_t{-1});
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t image = i / (s.out[0] * s.out[1]);
      bool begun = false;
      for (std::int64_t kd = 0; kd < s.kernel[0]; ++kd)
        for (std::int64_t kh = 0; kh < s.kernel[1]; ++kh) {
          const std::int64_t d = position(s, 0, i / s.out[1] % s.out[0], kd),
                             h = position(s, 1, i % s.out[1], kh);
          if (d < 0 || h < 0) continue;
          const std::int64_t from = (image * s.in[0] + d) * s.in[1] + h;
          T* const at = lines.data() + from % kept * reach;
          if (held[from % kept] != from)
            std::memcpy(at + before, x + from * line, static_cast<std::size_t>(there) * sizeof(T));
          held[from % kept] = from;
          gemm<T>(s.out[2], s.o, deep, at, s.c, 1, w + (kd * s.kernel[1] + kh) * deep * s.o, s.o, 1,
                  y + i * result, s.o, 1, begun);
          begun = true;
        }
      if (!begun) std::fill_n(y + i * result, result, T(0));
    }
  });
}

// Computes y by Winograd's products where that suits the shapes and all is finite. Whether it did.
template <class T>
bool computes_by_winograd(const ConvGeometry& s, const T* x, const T* w, T* y) {
  if constexpr (simd::has_packet<T>) return winograd::suits<T>(s) && winograd::forward(s, x, w, y);
  return false;
}

// The convolution that gives x from y, with the taps in reverse and the channels of w exchanged.
inline ConvGeometry turned(const ConvGeometry& s) {
  ConvGeometry t = s;
  std::swap(t.c, t.o);
  for (int axis = 0; axis < 3; ++axis) {
    std::swap(t.in[axis], t.out[axis]);
    std::swap(t.stride[axis], t.lhs[axis]);
    t.low[axis] = (s.kernel[axis] - 1) * s.rhs[axis] - s.low[axis];
  }
  return t;
}

}  // namespace conv_detail

template <class T>
void conv_forward(const ConvGeometry& s, const T* x, const T* w, T* y) {
  using namespace conv_detail;
  const std::int64_t cg = s.c / s.groups, og = s.o / s.groups, width = s.taps() * cg, rows = s.rows();
  if (rows == 0 || s.o == 0) return;
  if (is_pointwise(s)) return gemm<T>(rows, s.o, s.c, x, s.c, 1, w, s.o, 1, y, s.o, 1, false);
  if (is_correlation(s))
    return correlate<T>({s.in[2], s.taps(), s.low[2], s.out[2]}, s.n, [&](std::int64_t i) {
      return CorrelationRow<T>{x + i * s.in[2], w, y + i * s.out[2]};
    });
  if (is_depthwise(s)) {
    parallel_for(rows, 1 + (1 << 13) / (s.taps() * s.c + 1), [&](std::int64_t begin, std::int64_t end) {
      std::fill(y + begin * s.o, y + end * s.o, T(0));
      for_each_tap(s, begin, end, [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
        for (std::int64_t i = 0; i < s.c; ++i) y[to + i] += x[from + i] * w[tap + i];
      });
    });
    return;
  }
  if (computes_by_winograd(s, x, w, y)) return;
  if (goes_by_lines<T>(s)) return convolve_lines(s, x, w, y);
  const std::int64_t block = block_rows<T>(s);
  const Scratch<T> patches(std::min(block, rows) * width);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for (std::int64_t first = 0; first < rows; first += block) {
      const std::int64_t count = std::min(block, rows - first);
      gather_patches(s, x, group, first, count, patches.data());
      gemm<T>(count, og, width, patches.data(), width, 1, w + group * og, s.o, 1,
              y + first * s.o + group * og, s.o, 1, false);
    }
}

template <class T>
void conv_input(const ConvGeometry& s, const T* g, const T* w, T* x) {
  using namespace conv_detail;
  const std::int64_t cg = s.c / s.groups, og = s.o / s.groups, width = s.taps() * cg, rows = s.rows();
  const std::int64_t an_image = s.out[0] * s.out[1] * s.out[2], of_x = s.in[0] * s.in[1] * s.in[2] * s.c;
  if (s.n * of_x == 0) return;
  if (is_pointwise(s)) return gemm<T>(rows, s.c, s.o, g, s.o, 1, w, 1, s.o, x, s.c, 1, false);
  if (is_correlation(s))  // of g with the reversed w
    return correlate<T>({s.out[2], s.taps(), s.taps() - 1 - s.low[2], s.in[2], 1, -1}, s.n,
                        [&](std::int64_t i) {
                          return CorrelationRow<T>{g + i * s.out[2], w + s.taps() - 1, x + i * s.in[2]};
                        });
  // (For fewer rows turning w takes too long.)
  const ConvGeometry t = turned(s);
  const bool by_lines = rows >= 2048 && goes_by_lines<T>(t);
  if (by_lines || winograd::suits<T>(t)) {
    const std::int64_t tap = s.c * s.o, shape[] = {s.taps(), s.o, s.c}, to[] = {tap, s.c, 1},
                       from[] = {-tap, 1, s.o};
    const Scratch<T> weights(s.taps() * tap);
    strided_copy(3, shape, weights.data(), to, w + (s.taps() - 1) * tap, from);
    if (computes_by_winograd(t, g, weights.data(), x)) return;
    if (by_lines) return convolve_lines<T>(t, g, weights.data(), x);
  }
  std::fill(x, x + s.n * of_x, T(0));
  if (rows == 0 || width == 0 || s.o == 0) return;
  if (is_depthwise(s)) {
    parallel_for(s.n, 1, [&](std::int64_t begin, std::int64_t end) {
      for_each_tap(s, begin * an_image, end * an_image,
                   [&](std::int64_t to, std::int64_t tap, std::int64_t from) {
                     for (std::int64_t i = 0; i < s.c; ++i) x[to + i] += g[from + i] * w[tap + i];
                   });
    });
    return;
  }
  const std::int64_t block = block_rows<T>(s);
  const Scratch<T> patches(std::min(block, rows) * width);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for (std::int64_t first = 0; first < rows; first += block) {
      const std::int64_t count = std::min(block, rows - first);
      gemm<T>(count, width, og, g + first * s.o + group * og, s.o, 1, w + group * og, 1, s.o, patches.data(),
              width, 1, false);
      scatter_patches(s, patches.data(), group, first, count, x);
    }
}

template <class T>
void conv_weights(const ConvGeometry& s, const T* x, const T* g, T* w, bool accumulate) {
  using namespace conv_detail;
  const std::int64_t cg = s.c / s.groups, og = s.o / s.groups, width = s.taps() * cg, rows = s.rows();
  if (width * s.o == 0) return;
  if (is_pointwise(s)) return gemm<T>(s.c, s.o, rows, x, 1, s.c, g, s.o, 1, w, s.o, 1, accumulate);
  if constexpr (simd::has_packet<T>)
    if (winograd::suits_weights<T>(s) && winograd::weights(s, x, g, w, accumulate)) return;
  if (!accumulate) std::fill(w, w + width * s.o, T(0));
  if (rows == 0) return;
  if (is_depthwise(s)) {
    for_each_tap(s, 0, rows, [&](std::int64_t from, std::int64_t tap, std::int64_t at) {
      for (std::int64_t i = 0; i < s.c; ++i) w[tap + i] += x[from + i] * g[at + i];
    });
    return;
  }
  const std::int64_t block = block_rows<T>(s);
  const Scratch<T> patches(std::min(block, rows) * width);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for (std::int64_t first = 0; first < rows; first += block) {
      const std::int64_t count = std::min(block, rows - first);
      gather_patches(s, x, group, first, count, patches.data());
      gemm<T>(width, og, count, patches.data(), 1, width, g + first * s.o + group * og, s.o, 1,
              w + group * og, s.o, 1, true);
    }
}

}  // namespace cpu
NAX_END
