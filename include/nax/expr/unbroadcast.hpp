#pragma once

#include "nax/backend/cpu/accumulate.hpp"
#include "nax/backend/cpu/reduce.hpp"
#include "nax/expr/evaluate.hpp"
#include "nax/expr/operators.hpp"

// The transposes of broadcasting: sums over the axes that an operand lacked.
NAX_BEGIN
namespace detail {

// The sum over the marked axes of all (hidden ones first), which stay with extent 1 when `keep`. Recorded.
template <class T>
Array<T> sum_axes(const Array<T>& x, const AxisMarks& summed, bool keep);

// Views the elements over axes that differ in extents of 1 only. Recorded.
template <class T>
Array<T> restride(const Array<T>& x, const Frame& to);

// x repeated (by strides of 0) over the axes of `to`, which x broadcasts to. Recorded.
template <class T>
Array<T> broadcast_frame(const Array<T>& x, const Frame& to);

// Sums over the hidden axes of x that are among `made` but not among `kept`.
template <class T>
Array<T> sum_levels(Array<T> x, const Levels& made, const Levels& kept) {
  const Levels& levels = layout_of(x).levels;
  AxisMarks summed(layout_of(x).shape.size(), false);
  bool any = false;
  for (std::size_t h = 0; h < levels.size(); ++h)
    if (contains(made, levels[h]) && !contains(kept, levels[h])) summed[h] = any = true;
  if (!any) return x;
  return sum_axes(x, summed, false);
}

// The axes a gradient has: those of the value, and the hidden axes that only the cotangent brought along.
NAX_ENGINE Frame gradient_frame(const Frame& value, const Frame& result, const Frame& cotangent);

// Which axes of a cotangent go, or become 1, on its way to the gradient of `value` over `target`; empty where
// none does.
NAX_ENGINE AxisMarks axes_to_sum(const Layout& cotangent, const Frame& value, const Frame& target);

// Sums g, a cotangent over `result`, down to the axes of `value`, which was broadcast to it.
template <class T>
Array<T> sum_to(const Array<T>& g, const Frame& value, const Frame& result) {
  const Frame target = gradient_frame(value, result, layout_of(g));
  if (layout_of(g) == target) return g;
  const AxisMarks summed = axes_to_sum(layout_of(g), value, target);
  // Extents of 1 that the value has not go by a view.
  return restride(summed.empty() ? g : sum_axes(g, summed, true), target);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/unbroadcast-inl.hpp"
#endif
