#pragma once

#include "nax/numpy/reductions/reduce.hpp"

// Truth over axes. NaN is true.
NAX_BEGIN
namespace detail {

template <class Op, class X>
Array<bool> truth_over(const char* function, const X& x, const MeanOptions& options, bool neutral) {
  check_reducible(function, x);
  const auto reduced = [&](const auto& e) {
    const AxisMarks marks = marked_axes(function, options.axis, e.ndim());
    return typed<bool>(reduce_over<Op>(e, over_frame(marks, frame_of(e)), options.keepdims));
  };
  if (options.where) {
    const Array<typename X::value_type> values = materialise(x);
    const Array<bool> truth(evaluate(make_expr<rules::logical_or>(values, Array<bool>(false))));
    return reduced(make_selection<rules::where>(*options.where, truth, Array<bool>(neutral)));
  }
  return reduced(x);
}

}  // namespace detail

// Is any element over `axis` true? False where there are none. Throws IndexError if an axis is out of bounds,
// and ValueError if one repeats.
template <detail::ArrayLike X>
Array<bool> any(const X& x, const MeanOptions& options = {}) {
  return detail::truth_over<cpu::reduce_op::Any>("any", x, options, false);
}
// Are all elements over `axis` true? True where there are none. Throws IndexError if an axis is out of
// bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
Array<bool> all(const X& x, const MeanOptions& options = {}) {
  return detail::truth_over<cpu::reduce_op::All>("all", x, options, true);
}

NAX_END
