#pragma once

#include "nax/numpy/reductions/rows.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/rules/extrema.hpp"

// Extrema over axes. NaN wins, as in NumPy; the gradient of a maximum that several elements reach is split
// evenly among them.
NAX_BEGIN
namespace detail {

// Where x is the extremum of its group, which `y` holds with the reduced axes kept or not: an expression, so
// that no mask is stored.
template <class T>
auto reaches(const Array<T>& x_, const Array<T>& y, const AxisMarks& marks, bool keep) {
  const Array<T> x = typed<T>(constant(x_)),
                 whole = unreduce(typed<T>(constant(y)), layout_of(x), marks, keep);
  return make_expr<rules::logical_or>(make_expr<rules::equal>(x, whole), make_expr<rules::not_equal>(x, x));
}

// A derivative of the extremum y of rows of x row by row, which takes no mask and no sum of one, by the
// operation of their device; nothing where that lacks it, something records it, or operands do not lie row
// after row. `given`: g, one a row, for spread_extrema; t, of the elements of x, for mean_over_extrema.
NAX_ENGINE std::optional<ArrayBase> extremum_by_rows(loops::RowFunction function, const ArrayBase& x,
                                                     const ArrayBase& y, const ArrayBase& given,
                                                     const AxisMarks& marks);
template <loops::RowFunction function, class T, class Otherwise>
Array<T> derivative_of_extremum(const Array<T>& x, const Array<T>& y, const Array<T>& given,
                                const AxisMarks& marks, const Otherwise& otherwise) {
  if constexpr (simd::has_packet<T>) {
    cpu::provide<cpu::RowKernel<function>, T>();
    if (std::optional<ArrayBase> result = extremum_by_rows(function, x, y, given, marks))
      return typed<T>(*std::move(result));
  }
  return otherwise();
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
  Array<T> result = from_accumulator<T>(reduce_over<Op>(x, marks, keep));
  if constexpr (is_inexact_v<T> && is_array_v<X>) {
    if (serial_of(x) == 0) return result;
    const auto pull = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
      return derivative_of_extremum<loops::RowFunction::spread_extrema>(x, y, g, marks, [&] {
        const auto mask = reaches(x, y, marks, keep);
        const Array<T> share = evaluate(make_expr<rules::divide>(g, sum_over<T>(mask, visible, keep, 1)));
        return Array<T>(evaluate(
            make_selection<rules::where>(mask, unreduce(share, frame, marks, keep), Array<T>(T(0)))));
      });
    };
    const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
      return derivative_of_extremum<loops::RowFunction::mean_over_extrema>(x, y, t, marks, [&] {
        const auto mask = reaches(x, y, marks, keep);
        const Array<T> chosen =
            sum_over<T>(make_selection<rules::where>(mask, t, Array<T>(T(0))), visible, keep, 1);
        return Array<T>(evaluate(make_expr<rules::divide>(chosen, sum_over<T>(mask, visible, keep, 1))));
      });
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
// The smallest element along the axes; NaN where one is. Throws ValueError for an empty reduction without
// `initial`, or `where` without it; IndexError if an axis is out of bounds.
template <detail::ArrayLike X>
auto min(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  using Lane = detail::lane_t<typename X::value_type>;
  return detail::extremum<cpu::reduce_op::Min<Lane>, rules::minimum>("min", x, options);
}
// The largest element along the axes. As max.
template <detail::ArrayLike X>
auto amax(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  return max(x, options);
}
// The smallest element along the axes. As min.
template <detail::ArrayLike X>
auto amin(const X& x, const ReduceOptions<typename X::value_type>& options = {}) {
  return min(x, options);
}
// max - min over `axis`.
template <detail::ArrayLike X>
auto ptp(const X& x_, const AxisOptions& options = {}) {
  const Array<typename X::value_type> x = detail::materialise(x_);
  const auto high = max(x, {.axis = options.axis, .keepdims = options.keepdims});
  const auto low = min(x, {.axis = options.axis, .keepdims = options.keepdims});
  return detail::evaluate(detail::make_expr<rules::subtract>(high, low));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::optional<ArrayBase> extremum_by_rows(loops::RowFunction function, const ArrayBase& x,
                                                     const ArrayBase& y, const ArrayBase& given,
                                                     const AxisMarks& marks) {
  const Layout &layout = layout_of(x), &rows = layout_of(y);
  const bool spreads = function == loops::RowFunction::spread_extrema;
  if (recording.tape || layout.size() == 0 || !layout.is_contiguous() || !rows.is_contiguous() ||
      !layout_of(given).is_contiguous() || !marks_suffix(marks) || rows.levels != layout.levels ||
      !(static_cast<const Frame&>(layout_of(given)) == (spreads ? rows : layout)))
    return std::nullopt;
  // Threads share rows; that there are enough of them must not depend on how many threads there are, as the
  // order of sums does on the way that is taken.
  constexpr std::int64_t enough_rows = 16;
  if (layout.size() > cpu::detail::parallel_grain && rows.size() < enough_rows) return std::nullopt;
  const Device device = device_for(loops::name_of(function), x, y, given);
  if (!backend::has(device, ops::Rows{{function}, x.dtype()})) return std::nullopt;
  ArrayBase result = allocate(x.dtype(), spreads ? layout : rows, device);
  run_rows(function, layout.size() / rows.size(), 0, {&x, &y, &given}, {&result});
  return result;
}

}  // namespace detail
NAX_END
#endif
