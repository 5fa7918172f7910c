#pragma once

#include "nax/backend/cpu/lines/row_kernels.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/rows.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/rules/exponential.hpp"

NAX_BEGIN

// SciPy's order: weights `b` of the exponentials.
template <class T>
struct LogsumexpOptions {
  Axis axis = {};
  std::optional<Array<T>> b = {};
  bool keepdims = false;
};

namespace detail {

// -inf becomes 0, so that exp(-inf - shift) is 0 and not NaN.
template <class T>
Array<T> finite_shift(const Array<T>& m) {
  const Array<T> zero(T(0));
  return evaluate(make_selection<rules::where>(make_expr<rules::isfinite>(m), m, zero));
}

template <class T>
cpu::SoftmaxBlockKernel::Function* softmax_block_kernel() {
  cpu::provide<cpu::SoftmaxBlockKernel, T>();
  return cpu::kernel_for<cpu::SoftmaxBlockKernel>(dtype_of<T>);
}

template <class X>
auto logsumexp_value(const X& x, const AxisMarks& visible, bool keep) {
  using T = typename X::value_type;
  using Lane = lane_t<T>;
  if constexpr (is_array_v<X> && may_have_rows<T>) {
    const Frame frame = frame_of(x);
    const std::int64_t length = marked_count(visible, frame);
    if (has_rows<T>(x.device()) && length > 0 && layout_of(x).is_contiguous() && marks_suffix(visible))
      return rows_value<loops::RowFunction::logsumexp>(
          x, length, reduced_frame(frame, over_frame(visible, frame), keep));
  }
  if constexpr (!std::is_same_v<Lane, T>) {
    return from_accumulator<T>(
        contiguous(logsumexp_value(lane_rows(materialise(x)), visible, keep), transforms_handled));
  } else {
    const Frame frame = frame_of(x);
    const AxisMarks marks = over_frame(visible, frame);
    const RowCount count(frame, visible);
    if constexpr (has_row_blocks<X>) {
      if (computed_on_accelerator(x)) return logsumexp_value(materialise(x), visible, keep);
      if (marks_suffix(visible) && count.length > 0) {
        Array<T> result = typed<T>(allocate(dtype_of<T>, reduced_frame(frame, marks, keep)));
        T* out = elements<T>(result);
        const auto kernel = softmax_block_kernel<T>();
        for_each_row_block<T>(x, count, static_cast<T*>(nullptr),
                              [=](const T* rows, std::int64_t first, std::int64_t some) {
                                kernel(loops::RowFunction::logsumexp, rows, out + first, some, count.length);
                              });
        return result;
      }
    }
    const Array<T> values = materialise(x);
    const Array<T> m = finite_shift(typed<T>(reduce_over<cpu::reduce_op::Max<T>>(values, marks, true)));
    const auto shifted = make_expr<rules::exp>(make_expr<rules::subtract>(values, m));
    const Array<T> total = typed<T>(reduce_over<cpu::reduce_op::Sum<T>>(shifted, marks, true));
    const Array<T> result = evaluate(make_expr<rules::add>(make_expr<rules::log>(total), m));
    return keep ? result : typed<T>(view(result, Layout::contiguous(reduced_frame(frame, marks, false))));
  }
}

template <class T>
Array<T> logsumexp_over(const Array<T>& x, const AxisMarks& visible, bool keep) {
  Array<T> result = logsumexp_value(typed<T>(constant(x)), visible, keep);
  check_result("logsumexp", result, {&x});
  if (serial_of(x) == 0) return result;
  const Frame frame = layout_of(x);
  const AxisMarks marks = over_frame(visible, frame);
  // exp(x - y), y the result: the softmax. A row of -inf has none, and its gradient is 0.
  const auto weights = [=](const Array<T>& y) {
    const Array<T> zero(T(0)), lowest(-std::numeric_limits<lane_t<T>>::infinity());
    const Array<T> shift =
        evaluate(make_selection<rules::where>(make_expr<rules::equal>(y, lowest), zero, y));
    return make_expr<rules::exp>(make_expr<rules::subtract>(x, unreduce(shift, frame, marks, keep)));
  };
  const auto pull = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
    return evaluate(make_expr<rules::multiply>(unreduce(g, frame, marks, keep), weights(y)));
  };
  const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
    return sum_over<T>(make_expr<rules::multiply>(t, weights(y)), visible, keep, 1);
  };
  return record_with_result(std::move(result), wrt(x, pull, push));
}

}  // namespace detail

// log(sum(exp(x))) over `axis`, without overflow: -inf for a row of -inf, or of no elements. Integers are
// computed as float. Throws IndexError if an axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto logsumexp(const X& x_, const LogsumexpOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  static_assert(!is_complex_v<T>, "logsumexp: complex numbers are not supported");
  if constexpr (detail::has_row_blocks<X>) {
    if (!options.b && !detail::watched(x_) && !detail::computed_on_accelerator(x_))
      return detail::logsumexp_value(x_, detail::marked_axes("logsumexp", options.axis, x_.ndim()),
                                     options.keepdims);
  }
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("logsumexp", x);
  if (!options.b)
    return detail::logsumexp_over(x, detail::marked_axes("logsumexp", options.axis, x.ndim()),
                                  options.keepdims);
  // Weights: elements of weight 0 take no part in the shift.
  const Array<T> zero(T(0)), lowest(-std::numeric_limits<detail::lane_t<T>>::infinity());
  const Array<T> taken = detail::evaluate(
      detail::make_selection<rules::where>(detail::make_expr<rules::not_equal>(*options.b, zero), x, lowest));
  const Array<T> m = detail::finite_shift(
      max(detail::typed<T>(detail::constant(taken)), {.axis = options.axis, .keepdims = true}));
  const auto weighted = detail::make_expr<rules::multiply>(
      *options.b, detail::make_expr<rules::exp>(detail::make_expr<rules::subtract>(taken, m)));
  const Array<T> total = sum(weighted, {.axis = options.axis, .keepdims = options.keepdims});
  const Array<T> shift = sum(m, {.axis = options.axis, .keepdims = options.keepdims});
  return detail::evaluate(detail::make_expr<rules::add>(detail::make_expr<rules::log>(total), shift));
}

namespace special {
using nax::logsumexp;
}
namespace nn {
using nax::logsumexp;
}

NAX_END
