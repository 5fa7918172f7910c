#pragma once

#include "nax/backend/cpu/reducers.hpp"
#include "nax/lax/associative_scan.hpp"
#include "nax/lax/padding.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"

// Reductions over windows that slide along an array's axes.
NAX_BEGIN
namespace lax {
struct ReduceWindowOptions {
  Shape base_dilation = {};    // the elements stand so far apart, init_value between
  Shape window_dilation = {};  // the same for the windows
};
}  // namespace lax

namespace detail {

// The identity of a maximum or minimum.
template <class T, template <class> class Op>
T extreme_of() {
  return static_cast<T>(Op<lane_t<T>>::identity());
}

// Windows over all visible axes of an array, checked.
struct WindowSpec {
  Dims in, window, out, strides, base, dilation, low, high;
};
NAX_ENGINE WindowSpec window_spec(const char* function, const Shape& in, const Dims& window,
                                  const Dims& strides, const lax::Padding& padding, const Dims& base,
                                  const Dims& dilation);

// x among `fill`: dilated and padded (or cut) as the windows see it.
template <class T>
Array<T> window_ground(const Array<T>& x, const WindowSpec& s, T fill) {
  Dims shape;
  Selection place = Selection::all(layout_of(x)), kept = place;
  bool same = true;
  for (std::size_t axis = 0; axis < s.in.size(); ++axis) {
    const std::int64_t wide = dilated(s.in[axis], s.base[axis]);
    const std::int64_t before = std::max<std::int64_t>(s.low[axis], 0),
                       after = std::max<std::int64_t>(s.high[axis], 0);
    shape.push_back(wide + before + after);
    place.start[axis] = before;
    place.step[axis] = s.base[axis];
    kept.start[axis] = std::max<std::int64_t>(-s.low[axis], 0);
    kept.count[axis] = std::max<std::int64_t>(0, wide + s.low[axis] + s.high[axis]);
    same = same && s.base[axis] == 1 && s.low[axis] == 0 && s.high[axis] == 0;
  }
  if (same) return x;
  return get(update(full<T>(Shape(shape), fill), place, x, Update::set), kept);
}

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

// For each window the position (in the row-major visible axes of x) of its best element: the first of equal
// ones, NaN before all others; -1 where a window holds none. Axes behind the last one that windows move along
// go as one run, in pieces that stay in registers. Of windows wholly within x each tap is a step from the
// first.
template <class T, class Better>
Array<std::int64_t> best_in_windows(const Array<T>& x, const WindowSpec& s, const Better& better) {
  constexpr std::int64_t piece = 16;
  const Array<T> from = typed<T>(contiguous(x, transforms_handled));
  Frame frame = layout_of(from);
  std::int64_t examples = 1, size = 1, run = 1, places = 1, taps = 1;
  for (std::size_t h = 0; h < frame.levels.size(); ++h) examples *= frame.shape[h];
  frame.shape = Dims(frame.shape.begin(), frame.shape.begin() + frame.hidden());
  frame.shape.append(s.out.begin(), s.out.end());
  for (const std::int64_t n : s.in) size *= n;
  std::size_t axes = s.in.size();
  while (axes > 0 && s.window[axes - 1] == 1 && s.strides[axes - 1] == 1 && s.base[axes - 1] == 1 &&
         s.low[axes - 1] == 0 && s.high[axes - 1] == 0)
    run *= s.in[--axes];
  for (std::size_t axis = 0; axis < axes; ++axis) places *= s.out[axis], taps *= s.window[axis];
  Array<std::int64_t> result = typed<std::int64_t>(allocate_on_host(DType::int64, frame));
  const T* const all = elements<const T>(from, transforms_handled);
  std::int64_t* const to = elements<std::int64_t>(result);
  if (layout_of(result).size() == 0) return result;
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
                   for (std::int64_t r = 0; r < run; r += piece) {
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
  return result;
}

// The best elements of windows; `otherwise` where a window lies in the padding. A gradient goes to the
// element.
template <class T, class Better>
Array<T> extremum_of_windows(const char* function, const Array<T>& x, const WindowSpec& s, T otherwise,
                             const Better& better) {
  need_host(function, x);
  if (s.in.size() > 16) raise<ShapeError>({function, ": more than 16 axes: ", x.shape()});
  const Array<std::int64_t> positions = best_in_windows(x, s, better);
  const Shape shape = positions.shape();
  if (positions.size() == 0 || x.size() == 0) return full<T>(shape, otherwise);
  const Array<std::int64_t> flat = reshape_to(function, positions, Shape{positions.size()});
  const Array<T> from = reshape_to(function, x, Shape{x.size()});
  const ArrayBase plain = contiguous(positions, transforms_handled);
  const std::int64_t* at = elements<const std::int64_t>(plain, transforms_handled);
  const bool missing = std::find(at, at + layout_of(plain).size(), -1) != at + layout_of(plain).size();
  if (!missing) return reshape_to(function, get(from, along_selection(layout_of(from), flat, 0)), shape);
  const Array<std::int64_t> safe = maximum(flat, std::int64_t{0});
  const Array<T> values = get(from, along_selection(layout_of(from), safe, 0));
  return reshape_to(function, Array<T>(where(flat < std::int64_t{0}, otherwise, values)), shape);
}

}  // namespace detail

namespace lax {

// For each window of x the combination of its elements by `computation(a, b)` (of arrays, element by element,
// associative), beginning with init_value, which also stands in the padding. One number an axis in
// window_dimensions and window_strides. Differentiable where the computation is.
template <nax::detail::ArrayLike X, class Init, class Op>
auto reduce_window(const X& x_, const Init& init_value, const Op& computation, const Shape& window_dimensions,
                   const Shape& window_strides, const Padding& padding,
                   const ReduceWindowOptions& options = {}) {
  using namespace nax::detail;
  using T = typename X::value_type;
  const Array<T> x = as_array(x_);
  check_operand("reduce_window", x);
  const WindowSpec s = window_spec("reduce_window", x.shape(), window_dimensions, window_strides, padding,
                                   options.base_dilation, options.window_dilation);
  T init;
  if constexpr (Scalar<Init>)
    init = static_cast<T>(init_value);
  else
    init = static_cast<T>(init_value.item());
  const ComputeOn beside_x(x);
  Array<T> result = full<T>(Shape(s.out), init);
  if (result.size() == 0) return result;
  const Array<T> ground = window_ground(x, s, init);
  std::int64_t taps = 1;
  for (const std::int64_t n : s.window) taps *= n;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Selection part = Selection::all(layout_of(ground));
    std::int64_t left = tap;
    for (std::size_t axis = s.in.size(); axis-- > 0; left /= s.window[axis]) {
      part.start[axis] = left % s.window[axis] * s.dilation[axis];
      part.step[axis] = s.strides[axis];
      part.count[axis] = s.out[axis];
    }
    result = Array<T>(computation(std::as_const(result), get(ground, part)));
  }
  return result;
}

}  // namespace lax
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/windows-inl.hpp"
#endif
