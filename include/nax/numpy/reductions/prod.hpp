#pragma once

#include "nax/numpy/reductions/cumulative.hpp"

NAX_BEGIN
namespace detail {

template <class T>
Array<T> prod_axis(const Array<T>& x, int axis, bool keep);

template <class R, class X>
Array<R> prod_value(const X& x, const AxisMarks& visible, bool keep) {
  using Acc = lane_t<R>;
  return from_accumulator<R>(
      reduce_over<cpu::reduce_op::Product<Acc>>(x, over_frame(visible, frame_of(x)), keep));
}

// The product of all other elements: what comes before times what comes after. No division, so zeros are no
// exception.
template <class T>
Array<T> prod_axis(const Array<T>& x, int axis, bool keep) {
  AxisMarks visible(static_cast<std::size_t>(x.ndim()), false);
  visible[static_cast<std::size_t>(axis)] = true;
  const Frame frame = layout_of(x);
  const AxisMarks marks = over_frame(visible, frame);
  const auto others = [=] {
    const Array<T> before = shift(cumprod_axis<T>(x, axis, false), axis, false, T(1));
    const Array<T> after = shift(cumprod_axis<T>(x, axis, true), axis, true, T(1));
    return evaluate(make_expr<rules::multiply>(before, after));
  };
  return record(prod_value<T>(x, visible, keep),
                wrt(
                    x,
                    [=](const Array<T>& g) -> Array<T> {
                      return evaluate(make_expr<rules::multiply>(unreduce(g, frame, marks, keep), others()));
                    },
                    [=](const Array<T>& t) -> Array<T> {
                      return sum_over<T>(make_expr<rules::multiply>(t, others()), visible, keep, 1);
                    }));
}

template <class R, class X>
Array<R> prod_over(const X& x, const AxisMarks& visible, bool keep) {
  if constexpr (is_inexact_v<R> && std::is_same_v<R, typename X::value_type>) {
    bool recorded = false;
    if constexpr (is_array_v<X>)
      recorded = is_recorded(x);
    else
      recorded = any_recorded(x);
    if (recorded) {
      Array<R> result = materialise(x);
      for (int axis = static_cast<int>(visible.size()); axis-- > 0;)
        if (visible[static_cast<std::size_t>(axis)]) result = prod_axis(result, axis, keep);
      return result;
    }
  }
  return prod_value<R>(x, visible, keep);
}

}  // namespace detail

// The product over `axis`. bool and small integers multiply in 32 bits; half types in float. prod<R>(x)
// converts the elements to R first, and is of that type. Throws IndexError if an axis is out of bounds,
// ValueError if one repeats, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto prod(const X& x, const SumOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  using R = detail::sum_t<T>;
  detail::check_reducible("prod", x);
  detail::check_result_dtype("prod", options.dtype, dtype_of<R>);
  Array<R> result;
  if (options.where) {
    const Array<T> chosen = detail::evaluate(
        detail::make_selection<rules::where>(*options.where, x, Array<T>(static_cast<T>(1))));
    result = detail::prod_over<R>(chosen, detail::marked_axes("prod", options.axis, chosen.ndim()),
                                  options.keepdims);
  } else {
    result = detail::prod_over<R>(x, detail::marked_axes("prod", options.axis, x.ndim()), options.keepdims);
  }
  if (options.initial)
    return detail::evaluate(
        detail::make_expr<rules::multiply>(result, Array<R>(static_cast<R>(*options.initial))));
  return result;
}
template <Dtype R, detail::ArrayLike X>
Array<R> prod(const X& x, const SumOptions<std::type_identity_t<R>>& options = {}) {
  return detail::in_result_type<R>("prod", x, options,
                                   [](const auto& factors, const auto& with) { return prod(factors, with); });
}

NAX_END
