#pragma once

#include "nax/numpy/reductions/sum.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/rules/extrema.hpp"

// Extrema over axes. NaN wins, as in NumPy; the gradient of a maximum that several elements reach is split
// evenly among them.
namespace nax::inline NAX_ABI {
namespace detail {

// Where x is the extremum of its group, which `y` holds with the reduced axes kept or not: an expression, so
// that no mask is stored.
template <class T>
auto reaches(const Array<T>& x_, const Array<T>& y, const AxisMarks& marks, bool keep) {
  const Array<T> x(constant(x_)), whole = unreduce(Array<T>(constant(y)), layout_of(x), marks, keep);
  return make_expr<rules::logical_or>(make_expr<rules::equal>(x, whole), make_expr<rules::not_equal>(x, x));
}

template <class Op, class X>
auto extremum_over(const char* function, const X& x, const AxisMarks& visible, bool keep) {
  using T = typename X::value_type;
  static_assert(!is_complex_v<T>, "max, min: complex numbers have no order");
  if constexpr (Carries<X>::value && Expression<X>) {
    // The derivative reads the values.
    if (any_recorded(x)) return extremum_over<Op>(function, evaluate(x), visible, keep);
  }
  const Frame frame = frame_of(x);
  const AxisMarks marks = over_frame(visible, frame);
  Array<T> result = from_accumulator<T, lane_t<T>>(reduce_over<Op>(x, marks, keep));
  if constexpr (is_inexact_v<T> && is_array_v<X>) {
    if (serial_of(x) == 0) return result;
    const auto pull = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
      const auto mask = reaches(x, y, marks, keep);
      const Array<T> share = evaluate(make_expr<rules::divide>(g, sum_over<T>(mask, visible, keep, 1)));
      return evaluate(
          make_selection<rules::where>(mask, unreduce(share, frame, marks, keep), Array<T>(T(0))));
    };
    const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
      const auto mask = reaches(x, y, marks, keep);
      const Array<T> chosen =
          sum_over<T>(make_selection<rules::where>(mask, t, Array<T>(T(0))), visible, keep, 1);
      return evaluate(make_expr<rules::divide>(chosen, sum_over<T>(mask, visible, keep, 1)));
    };
    return record_with_result(std::move(result), wrt(x, pull, push));
  } else {
    return result;
  }
}

template <class Op, class Join, class X, class Options>
auto extremum(const char* function, const X& x, const Options& options) {
  using T = typename X::value_type;
  check_reducible(function, x);
  Array<T> result;
  if (options.where) {
    if (!options.initial)
      raise<ValueError>(
          {function, ": the reduction has no identity, so to use a where mask one has to specify 'initial'"});
    const Array<T> least(static_cast<lane_t<T>>(Op::identity()));
    const Array<T> chosen = evaluate(make_selection<rules::where>(*options.where, x, least));
    result = extremum_over<Op>(function, chosen, marked_axes(function, options.axis, chosen.ndim()),
                               options.keepdims);
  } else {
    const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
    if (!options.initial) check_not_empty(function, marks, frame_of(x));
    result = extremum_over<Op>(function, x, marks, options.keepdims);
  }
  if (options.initial) return evaluate(make_expr<Join>(result, Array<T>(*options.initial)));
  return result;
}

}  // namespace detail

// The largest element over `axis`. With no elements and no `initial` a ValueError; `where` needs `initial`.
template <detail::ArrayLike X>
auto max(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  using Lane = detail::lane_t<typename X::value_type>;
  return detail::extremum<cpu::reduce_op::Max<Lane>, rules::maximum>("max", x, options);
}
template <detail::ArrayLike X>
auto min(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  using Lane = detail::lane_t<typename X::value_type>;
  return detail::extremum<cpu::reduce_op::Min<Lane>, rules::minimum>("min", x, options);
}
template <detail::ArrayLike X>
auto amax(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  return max(x, options);
}
template <detail::ArrayLike X>
auto amin(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  return min(x, options);
}
// max - min.
template <detail::ArrayLike X>
auto ptp(const X& x_, const AxisOptions& options = {}) {
  const Array<typename X::value_type> x = detail::materialise(x_);
  const auto high = max(x, {.axis = options.axis, .keepdims = options.keepdims});
  const auto low = min(x, {.axis = options.axis, .keepdims = options.keepdims});
  return detail::evaluate(detail::make_expr<rules::subtract>(high, low));
}

}  // namespace nax::inline NAX_ABI
