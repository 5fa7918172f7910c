#pragma once

#include "nax/backend/cpu/lines/extrema.hpp"
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

// Whether a derivative may go row by row, which takes no mask and no sum of one: nothing records it, and x
// and what else has its elements (`of_x`, or null) lie row after row on the host, as do those that have one
// element a row.
NAX_ENGINE bool goes_by_rows(const ArrayBase& x, const ArrayBase* of_x, const ArrayBase& y,
                             const ArrayBase& of_y, const AxisMarks& marks);

// kernel(x, y, g, result, rows, length) for blocks of rows; `result` has as many elements a row as it says,
// `g` as many as the result has not.
template <class T, class Kernel>
Array<T> extremum_by_rows(const Array<T>& x, const Array<T>& y, const Array<T>& g, const Frame& frame,
                          std::int64_t g_step, std::int64_t step, Kernel kernel) {
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
  const std::int64_t rows = layout_of(y).size(), n = layout_of(x).size() / rows;
  const T* const from = elements<const T>(x, transforms_handled);
  const T* const tops = elements<const T>(y, transforms_handled);
  const T* const given = elements<const T>(g, transforms_handled);
  T* const out = elements<T>(result);
  parallel_for(rows, (std::int64_t{1} << 14) / n + 1, [=](std::int64_t begin, std::int64_t end) {
    kernel(from + begin * n, tops + begin, given + begin * g_step, out + begin * step, end - begin, n);
  });
  return result;
}

template <class Kernel, class T>
typename Kernel::Function* extrema_kernel() {
  cpu::provide<Kernel, T>();
  return cpu::kernel_for<Kernel>(dtype_of<T>);
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
      if constexpr (simd::has_packet<T>)
        if (goes_by_rows(x, nullptr, y, g, marks))
          return extremum_by_rows(x, y, g, frame, 1, layout_of(x).size() / layout_of(y).size(),
                                  extrema_kernel<cpu::SpreadExtremaKernel, T>());
      const auto mask = reaches(x, y, marks, keep);
      const Array<T> share = evaluate(make_expr<rules::divide>(g, sum_over<T>(mask, visible, keep, 1)));
      return evaluate(
          make_selection<rules::where>(mask, unreduce(share, frame, marks, keep), Array<T>(T(0))));
    };
    const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
      if constexpr (simd::has_packet<T>)
        if (goes_by_rows(x, &t, y, y, marks))
          return extremum_by_rows(x, y, t, layout_of(y), layout_of(x).size() / layout_of(y).size(), 1,
                                  extrema_kernel<cpu::MeanOverExtremaKernel, T>());
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

NAX_ENGINE bool goes_by_rows(const ArrayBase& x, const ArrayBase* of_x, const ArrayBase& y,
                             const ArrayBase& of_y, const AxisMarks& marks) {
  const Layout& layout = layout_of(x);
  if (recording.tape || layout.size() == 0 || !layout.is_contiguous() || on_accelerator(x) ||
      !marks_suffix(marks))
    return false;
  // Threads share rows; that there are enough of them must not depend on how many threads there are, as the
  // order of sums does on the way that is taken.
  constexpr std::int64_t enough_rows = 16;
  if (layout.size() > cpu::detail::parallel_grain && layout_of(y).size() < enough_rows) return false;
  for (const ArrayBase* one : {&y, &of_y})
    if (on_accelerator(*one) || !layout_of(*one).is_contiguous() ||
        !(static_cast<const Frame&>(layout_of(*one)) == layout_of(y)))
      return false;
  if (layout_of(y).levels != layout.levels) return false;
  return !of_x || (!on_accelerator(*of_x) && layout_of(*of_x).is_contiguous() &&
                   static_cast<const Frame&>(layout_of(*of_x)) == layout);
}

}  // namespace detail
NAX_END
#endif
