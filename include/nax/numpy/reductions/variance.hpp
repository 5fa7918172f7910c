#pragma once

#include "nax/backend/cpu/lines/row_kernels.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/rows.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/rules/extrema.hpp"

NAX_BEGIN
namespace detail {

// ddof under either of its names.
inline VarOptions corrected(const char* function, VarOptions options) {
  if (options.correction && options.ddof != 0)
    raise<ValueError>({function, ": ddof and correction can't be provided simultaneously"});
  options.ddof = options.correction.value_or(options.ddof);
  return options;
}

// Half types are computed in float.
template <class T>
Array<real_t<T>> variance(const char* function, const Array<T>& x, const VarOptions& options) {
  if constexpr (!std::is_same_v<lane_t<T>, T>) {
    return variance(function, as_type<float>(x), options).template astype<T>();
  } else {
    using R = real_t<T>;
    if constexpr (simd::has_packet<T>) {
      if (!options.where && !watched(x)) {
        const AxisMarks visible = marked_axes(function, options.axis, x.ndim());
        const Frame& frame = layout_of(x);
        const std::int64_t length = marked_count(visible, frame);
        const double n = static_cast<double>(length) - options.ddof;
        if (length > 0 && layout_of(x).is_contiguous() && marks_suffix(visible))
          return rows_value<loops::RowFunction::variance>(
              x, length, reduced_frame(frame, over_frame(visible, frame), options.keepdims), n > 0 ? n : 0);
      }
    }
    const Array<T> m = mean(x, {.axis = options.axis, .keepdims = true, .where = options.where});
    const auto centred = make_expr<rules::subtract>(x, m);
    const auto squares = [&] {
      if constexpr (is_complex_v<T>)
        return make_expr<rules::real>(
            make_expr<rules::multiply>(centred, make_expr<rules::conjugate>(centred)));
      else
        return make_expr<rules::square>(centred);
    }();
    if (options.where) {
      const Array<R> total =
          sum(squares, {.axis = options.axis, .keepdims = options.keepdims, .where = options.where});
      const Array<bool> where =
          broadcast_frame(*options.where, broadcast(function, layout_of(*options.where), layout_of(x)));
      const AxisMarks marks = marked_axes(function, options.axis, where.ndim());
      const Array<R> count = sum_over<R>(where, marks, options.keepdims, 1);
      const Array<R> ddof(static_cast<R>(options.ddof)), zero(R(0));
      const Array<R> left =
          evaluate(make_expr<rules::maximum>(make_expr<rules::subtract>(count, ddof), zero));
      return evaluate(make_expr<rules::divide>(total, left));
    }
    const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
    const double n = static_cast<double>(marked_count(marks, layout_of(x))) - options.ddof;
    return sum_over<R>(squares, marks, options.keepdims, n > 0 ? n : 0);
  }
}

}  // namespace detail

// The mean over `axis` of |x - mean(x)|^2, divided by the number of elements less ddof. NaN without elements.
// Throws IndexError if an axis is out of bounds, and ValueError if one repeats or both ddof and correction
// are given.
template <detail::ArrayLike X>
auto var(const X& x, const VarOptions& options = {}) {
  const auto a = detail::as_type<inexact_t<typename X::value_type>>(x);
  detail::check_reducible("var", a);
  return detail::variance("var", a, detail::corrected("var", options));
}
// sqrt(var(x)), over `axis`. Throws IndexError if an axis is out of bounds, and ValueError if one repeats or
// both ddof and correction are given.
template <detail::ArrayLike X>
auto std(const X& x, const VarOptions& options = {}) {
  const auto a = detail::as_type<inexact_t<typename X::value_type>>(x);
  detail::check_reducible("std", a);
  const VarOptions with = detail::corrected("std", options);
  return detail::in_lanes<real_t<inexact_t<typename X::value_type>>>(
      [&](const auto& wide) {
        return detail::evaluate(detail::make_expr<rules::sqrt>(detail::variance("std", wide, with)));
      },
      a);
}

NAX_END
