#pragma once

#include "nax/backend/cpu/maps/accumulate.hpp"
#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/expr/expressions/operators.hpp"

// The transposes of broadcasting: sums over the axes that an operand lacked.
NAX_BEGIN
namespace detail {

// Whether an array is one number everywhere, by its layout.
inline bool is_constant(const Layout& layout) { return is_repeated(layout.strides, layout.shape); }
// Such an array of the host on another device, of one number as well. Not recorded.
NAX_ENGINE ArrayBase moved_constant(const ArrayBase& x, Device to);
// x on `to`, where it goes along as one number everywhere; else x.
inline ArrayBase constant_beside(const ArrayBase& x, Device to) {
  return goes_along(x, to) && is_constant(layout_of(x)) ? moved_constant(x, to) : x;
}

// The sum over the marked axes of all (hidden ones first), which stay with extent 1 when `keep`. Recorded.
NAX_ENGINE ArrayBase sum_axes(const ArrayBase& x, const AxisMarks& summed, bool keep);

// Views the elements over axes that differ in extents of 1 only. Recorded.
NAX_ENGINE ArrayBase restride(const ArrayBase& x, const Frame& to);

// x repeated (by strides of 0) over the axes of `to`, which x broadcasts to. Recorded.
NAX_ENGINE ArrayBase broadcast_frame(const ArrayBase& x, const Frame& to);

// Sums over the hidden axes of x that are among `made` but not among `kept`.
NAX_ENGINE ArrayBase sum_levels(ArrayBase x, const Levels& made, const Levels& kept);

// The axes a gradient has: those of the value, and the hidden axes that only the cotangent brought along.
NAX_ENGINE Frame gradient_frame(const Frame& value, const Frame& result, const Frame& cotangent);

// Which axes of a cotangent go, or become 1, on its way to the gradient of `value` over `target`; empty where
// none does.
NAX_ENGINE AxisMarks axes_to_sum(const Layout& cotangent, const Frame& value, const Frame& target);

// Sums g, a cotangent over `result`, down to the axes of `value`, which was broadcast to it.
NAX_ENGINE ArrayBase sum_to(const ArrayBase& g, const Frame& value, const Frame& result);

inline const ArrayBase& handle_of(const ArrayBase& x) { return x; }

template <class T>
Array<T> sum_axes(const Array<T>& x, const AxisMarks& summed, bool keep) {
  return typed<T>(sum_axes(handle_of(x), summed, keep));
}
template <class T>
Array<T> restride(const Array<T>& x, const Frame& to) {
  return typed<T>(restride(handle_of(x), to));
}
template <class T>
Array<T> broadcast_frame(const Array<T>& x, const Frame& to) {
  return typed<T>(broadcast_frame(handle_of(x), to));
}
template <class T>
Array<T> sum_levels(const Array<T>& x, const Levels& made, const Levels& kept) {
  return typed<T>(sum_levels(handle_of(x), made, kept));
}
template <class T>
Array<T> sum_to(const Array<T>& g, const Frame& value, const Frame& result) {
  return typed<T>(sum_to(handle_of(g), value, result));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/unbroadcast-inl.hpp"
#endif
