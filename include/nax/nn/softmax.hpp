#pragma once

#include <cmath>

#include "nax/backend/cpu/lines/row_kernels.hpp"
#include "nax/numpy/reductions/logsumexp.hpp"

NAX_BEGIN

struct SoftmaxOptions {
  Axis axis = -1;
};

namespace detail {

template <loops::RowFunction function, class X>
auto softmax_value(const X& x, const AxisMarks& visible) {
  using T = typename X::value_type;
  using Lane = lane_t<T>;
  if constexpr (is_array_v<X> && may_have_rows<T>) {
    const Frame frame = frame_of(x);
    if (has_rows<T>(x.device()) && marks_suffix(visible))
      return rows_value<function>(x, marked_count(visible, frame), frame);
  }
  if constexpr (!std::is_same_v<Lane, T>) {
    if constexpr (!is_array_v<X>)
      if (computed_on_accelerator(x)) return softmax_value<function>(materialise(x), visible);
    return from_accumulator<T>(
        contiguous(softmax_value<function>(lane_rows(materialise(x)), visible), transforms_handled));
  } else {
    const Frame frame = frame_of(x);
    if constexpr (has_row_blocks<X>) {
      if (computed_on_accelerator(x)) return softmax_value<function>(materialise(x), visible);
      if (marks_suffix(visible)) {
        Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
        T* out = elements<T>(result);
        const RowCount count(frame, visible);
        const auto kernel = softmax_block_kernel<T>();
        for_each_row_block(x, count, out, [=](const T* rows, std::int64_t first, std::int64_t some) {
          kernel(function, rows, out + first * count.length, some, count.length);
        });
        return result;
      }
    }
    const AxisMarks marks = over_frame(visible, frame);
    const Array<T> values = materialise(x);
    const Array<T> m = typed<T>(reduce_over<cpu::reduce_op::Max<T>>(values, marks, true));
    const auto shifted = make_expr<rules::subtract>(values, m);
    if constexpr (function == loops::RowFunction::softmax) {
      const Array<T> e = evaluate(make_expr<rules::exp>(shifted));
      return evaluate(
          make_expr<rules::divide>(e, typed<T>(reduce_over<cpu::reduce_op::Sum<T>>(e, marks, true))));
    } else {
      const Array<T> total =
          typed<T>(reduce_over<cpu::reduce_op::Sum<T>>(make_expr<rules::exp>(shifted), marks, true));
      return evaluate(make_expr<rules::subtract>(shifted, make_expr<rules::log>(total)));
    }
  }
}

// x without its place on the tape.
template <class X>
decltype(auto) values_of(const X& x) {
  if constexpr (is_array_v<X>)
    return typed<typename X::value_type>(constant(x));
  else
    return (x);
}

template <class T>
Array<T> record_softmax(Array<T> value, const OperandRef& x, const AxisMarks& visible) {
  const auto tangent = [visible = AxisMarks(visible)](const Array<T>& t, const Array<T>& y) -> Array<T> {
    const auto by_parts = [&] {
      const Array<T> mean = sum_over<T>(make_expr<rules::multiply>(t, y), visible, true, 1);
      return evaluate(make_expr<rules::multiply>(y, make_expr<rules::subtract>(t, mean)));
    };
    return gradient_of_rows<loops::RowFunction::softmax_gradient>(visible, by_parts, t, y);
  };
  return record_with_result(std::move(value), wrt_operand<T>(x, tangent, tangent));
}

template <class X>
auto softmax_over(const X& x, const AxisMarks& visible) {
  auto value = softmax_value<loops::RowFunction::softmax>(values_of(x), visible);
  if constexpr (is_array_v<X>) check_result("softmax", value, {&x});
  return watched(x) ? record_softmax(std::move(value), operand_ref(x), visible) : value;
}

template <class T>
Array<T> record_log_softmax(Array<T> value, const OperandRef& x, const AxisMarks& visible) {
  auto pull = [visible = AxisMarks(visible)](const Array<T>& g, const Array<T>& y) -> Array<T> {
    const auto by_parts = [&] {
      const Array<T> total = sum_over<T>(g, visible, true, 1);
      return evaluate(
          make_expr<rules::subtract>(g, make_expr<rules::multiply>(make_expr<rules::exp>(y), total)));
    };
    return gradient_of_rows<loops::RowFunction::log_softmax_gradient>(visible, by_parts, g, y);
  };
  auto push = [visible = AxisMarks(visible)](const Array<T>& t, const Array<T>& y) -> Array<T> {
    const auto weighted = make_expr<rules::multiply>(make_expr<rules::exp>(y), t);
    return evaluate(make_expr<rules::subtract>(t, sum_over<T>(weighted, visible, true, 1)));
  };
  return record_with_result(std::move(value), wrt_operand<T>(x, std::move(pull), std::move(push)));
}

template <class X>
auto log_softmax_over(const X& x, const AxisMarks& visible) {
  auto value = softmax_value<loops::RowFunction::log_softmax>(values_of(x), visible);
  if constexpr (is_array_v<X>) check_result("log_softmax", value, {&x});
  return watched(x) ? record_log_softmax(std::move(value), operand_ref(x), visible) : value;
}

// An expression whose rows can be computed in blocks as it is, anything else as an array of inexact type.
template <class X>
decltype(auto) row_operand(const X& x) {
  if constexpr (has_row_blocks<X>)
    return (x);
  else
    return as_type<inexact_t<typename X::value_type>>(x);
}

}  // namespace detail

// exp(x) / sum(exp(x)) over `axis` (one, or several in braces), without overflow.
namespace nn {
// exp(x) over its sum along an axis, without overflow. The result has the shape of x. Throws IndexError if an
// axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto softmax(const X& x_, const SoftmaxOptions& options = {}) {
  decltype(auto) x = detail::row_operand(x_);
  detail::check_reducible("softmax", x);
  return detail::softmax_over(x, detail::marked_axes("softmax", options.axis, x.ndim()));
}
// log(softmax(x)), accurate where softmax is small. The result has the shape of x. Throws IndexError if an
// axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto log_softmax(const X& x_, const SoftmaxOptions& options = {}) {
  decltype(auto) x = detail::row_operand(x_);
  detail::check_reducible("log_softmax", x);
  return detail::log_softmax_over(x, detail::marked_axes("log_softmax", options.axis, x.ndim()));
}
struct LogmeanexpOptions {
  Axis axis = {};
  bool keepdims = false;
};
// log(mean(exp(x))) over `axis`, without overflow. The result has the shape of x without `axis`. Throws
// IndexError if an axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto logmeanexp(const X& x_, const LogmeanexpOptions& options = {}) {
  const auto x = detail::as_type<inexact_t<typename X::value_type>>(x_);
  using T = typename std::remove_cvref_t<decltype(x)>::value_type;
  double count = 1;
  for (const std::int64_t axis : detail::normalize_axes("logmeanexp", options.axis, x.ndim()))
    count *= static_cast<double>(x.shape(axis));
  const Array<T> total = logsumexp(x, {.axis = options.axis, .keepdims = options.keepdims});
  return Array<T>(total - static_cast<T>(std::log(count)));
}
}  // namespace nn

namespace special {
using nn::log_softmax;
using nn::softmax;
}  // namespace special

NAX_END
