#pragma once

#include "nax/backend/cpu/conv/windows.hpp"
#include "nax/backend/cpu/lines/line_kernels.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"
#include "nax/lax/associative_scan.hpp"
#include "nax/lax/padding.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
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
using WindowSpec = loops::Windows;
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

// For each window the position (in the row-major visible axes of x) of its first greatest (least) element,
// NaN before all others; -1 where a window holds none.
NAX_ENGINE ArrayBase window_positions(const ArrayBase& x, const WindowSpec& s, bool greatest);

// Narrows windows without dilations to those that hold elements. Returns where these begin among all.
NAX_ENGINE Dims keep_windows_with_elements(WindowSpec& s);

// The best elements of windows without dilations; `otherwise` where a window lies in the padding. A gradient
// goes to the element.
template <class T>
Array<T> extremum_of_windows(const char* function, const Array<T>& x, WindowSpec s, T otherwise,
                             bool greatest) {
  if (s.in.size() > 16) raise<ShapeError>({function, ": more than 16 axes: ", x.shape()});
  cpu::provide<cpu::WindowKernel, cpu::sortable_t<T>>();
  const ComputeOn beside_x(x);
  const Shape all(s.out);
  const Dims first = keep_windows_with_elements(s);
  if (count_elements(function, s.out) == 0) return full<T>(all, otherwise);
  const Array<std::int64_t> positions = typed<std::int64_t>(window_positions(x, s, greatest));
  const Array<std::int64_t> flat = reshape_to(function, positions, Shape{positions.size()});
  const Array<T> from = reshape_to(function, x, Shape{x.size()});
  const Array<T> best =
      reshape_to(function, get(from, along_selection(layout_of(from), flat, 0)), Shape(s.out));
  if (s.out == all) return best;
  Array<T> result = full<T>(all, otherwise);
  Selection place = Selection::all(layout_of(result));
  for (std::size_t axis = 0; axis < s.out.size(); ++axis)
    place.start[axis] = first[axis], place.count[axis] = s.out[axis];
  return update(std::move(result), place, best, Update::set);
}

}  // namespace detail

namespace lax {

// For each window of x the combination of its elements by `computation(a, b)` (of arrays, element by element,
// associative), beginning with init_value, which also stands in the padding. One number an axis in
// window_dimensions and window_strides. Differentiable where the computation is. The result has the shape of
// the windows' places, out = (n + low + high - w) / stride + 1 along each axis. Throws ValueError if window,
// strides, dilations or padding do not fit the axes.
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
