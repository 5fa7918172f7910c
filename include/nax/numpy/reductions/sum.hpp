#pragma once

#include "nax/expr/differentiation/fused_sum.hpp"
#include "nax/expr/evaluation/number_kernels.hpp"
#include "nax/numpy/reductions/reduce.hpp"

// Sums and means. An expression is summed as it is computed: its values are stored nowhere, not even for the
// derivative.
NAX_BEGIN
namespace detail {

// The type of a sum or product: bool and small integers become 32 bits wide.
template <class T>
using sum_t =
    std::conditional_t<std::is_same_v<T, bool> || (std::is_signed_v<T> && is_integer_v<T> && sizeof(T) < 4),
                       std::int32_t, std::conditional_t<is_integer_v<T> && sizeof(T) < 4, std::uint32_t, T>>;

// Provides the kernels of sums of elements of type T as an R and of their derivatives.
template <class T, class R>
void provide_sum() {
  using Acc = lane_t<R>;
  cpu::provide_reducer<std::conditional_t<std::is_same_v<T, bool> && is_integer_v<Acc>,
                                          cpu::reduce_op::Count<Acc>, cpu::reduce_op::Sum<Acc>>,
                       lane_t<T>>();
  if constexpr (is_inexact_v<R>) {
    cpu::provide<DivideKernel, Acc>();
    cpu::provide<ScaledKernel, R>();
  }
}

// The sum over the marked visible axes divided by `divisor` (1: not at all), of type `dtype`. Recorded where
// that is the type of x.
NAX_ENGINE ArrayBase sum_array(const ArrayBase& x, DType dtype, const AxisMarks& visible, bool keep,
                               double divisor);

// Whether the device's sums of elements of this type are divided as they are made.
inline bool divides_sums(Device device, DType dtype) {
  const loops::Operand sums{nullptr, {}, dtype, dtype};
  return accelerators_present &&
         backend::has(device, ops::Reduce{loops::ReduceKind::sum, {}, {}, {}, sums, 2});
}

// Makes accumulated sums a result of type `dtype`.
NAX_ENGINE void finish_sum(ArrayBase& sums, DType dtype, double divisor);

// Puts a sum (or mean) on the tape; `input` stands for the values.
NAX_ENGINE ArrayBase record_sum(ArrayBase result, const OperandRef& input, const Frame& frame,
                                const AxisMarks& visible, bool keep, double divisor);

// Does a sum under a gradient get its derivatives at once?
template <class X>
inline constexpr bool fuses_sum = false;
template <Expression X>
inline constexpr bool fuses_sum<X> = Carries<X>::value&& is_floating_v<typename X::value_type> &&
                                     sizeof(typename X::value_type) >= 4;

// The sum over the marked visible axes divided by `divisor` (1: not at all), as an R.
template <class R, class X>
Array<R> sum_over(const X& x, const AxisMarks& visible, bool keep, double divisor) {
  using T = typename X::value_type;
  static_assert(!is_inexact_v<T> || std::is_same_v<T, R>);
  provide_sum<T, R>();
  if constexpr (is_array_v<X>) {
    return typed<R>(sum_array(x, dtype_of<R>, visible, keep, divisor));
  } else {
    using Acc = lane_t<R>;
    if constexpr (std::is_same_v<T, R> && fuses_sum<X>) {
      if (recording.tape) {
        const Parts<X> parts(x);
        Array<T> sum{Unset()};
        if (fused_sum({fused_type_of<X>(), pull_kernel_of<X, true>(), pull_one_kernel_if<X, false>(),
                       pull_one_kernel_if<X, true>(), Functions<X>::value > 0},
                      parts.constants.slots, parts.leaves, x.frame(), visible, keep, divisor, sum))
          return sum;
      }
    }
    if constexpr (is_floating_v<T> && std::is_same_v<T, R>)
      if (divisor != 1 && divides_sums(device_of_values(x), dtype_of<T>))
        return sum_over<R>(materialise(x), visible, keep, divisor);
    const Frame frame = frame_of(x);
    using Op = std::conditional_t<std::is_same_v<T, bool> && is_integer_v<Acc>, cpu::reduce_op::Count<Acc>,
                                  cpu::reduce_op::Sum<Acc>>;
    ArrayBase result = reduce_over<Op>(x, over_frame(visible, frame), keep);
    finish_sum(result, dtype_of<R>, divisor);
    if (is_inexact_v<T> && watched(x))
      return typed<R>(record_sum(std::move(result), operand_ref(x), frame, visible, keep, divisor));
    return typed<R>(std::move(result));
  }
}

// function<R>(x, options): f(terms, options) of x with elements of type R, as an R.
template <class R, class X, class Options, class F>
Array<R> in_result_type(const char* function, const X& x, Options options, const F& f) {
  check_operand(function, x);
  check_result_dtype(function, options.dtype, dtype_of<R>);
  options.dtype.reset();
  if constexpr (std::is_same_v<typename X::value_type, R>)
    return as_type<R>(f(x, options));
  else
    return as_type<R>(f(apply<rules::cast<R>>(x), options));
}

// The sum of the elements for which `where` holds.
template <class R, class T, class Options>
Array<R> sum_chosen(const char* function, const Array<T>& x, const Options& options) {
  const auto chosen = make_selection<rules::where>(*options.where, x, Array<T>(T(0)));
  return sum_over<R>(chosen, marked_axes(function, options.axis, chosen.ndim()), options.keepdims, 1);
}

}  // namespace detail

// The sum over `axis`. bool and small integers add up in 32 bits; half types add up in float. sum<R>(x)
// converts the elements to R first, and is of that type. Throws TypeError where .dtype is not the type of the
// call.
template <detail::ArrayLike X>
auto sum(const X& x, const SumOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  using R = detail::sum_t<T>;
  detail::check_reducible("sum", x);
  detail::check_result_dtype("sum", options.dtype, dtype_of<R>);
  const auto total = [&]() -> Array<R> {
    if (options.where) return detail::sum_chosen<R>("sum", detail::materialise(x), options);
    return detail::sum_over<R>(x, detail::marked_axes("sum", options.axis, x.ndim()), options.keepdims, 1);
  };
  if (!options.initial) return total();
  return detail::evaluate(detail::make_expr<rules::add>(total(), Array<R>(static_cast<R>(*options.initial))));
}

template <Dtype R, detail::ArrayLike X>
Array<R> sum(const X& x, const SumOptions<std::type_identity_t<R>>& options = {}) {
  return detail::in_result_type<R>("sum", x, options,
                                   [](const auto& terms, const auto& with) { return sum(terms, with); });
}

// The mean over `axis`, of integers as float. With no elements NaN. Throws IndexError if an axis is out of
// bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto mean(const X& x, const MeanOptions& options = {}) {
  using T = typename X::value_type;
  using R = inexact_t<T>;
  detail::check_reducible("mean", x);
  if (options.where) {
    // Sums and counts of half types are computed in float, whose range and digits they need.
    if constexpr (!std::is_same_v<detail::lane_t<R>, R>)
      return mean(detail::as_type<float>(x), options).template astype<R>();
    const Array<T> values = detail::materialise(x);
    const Array<bool> where = detail::broadcast_frame(
        *options.where,
        detail::broadcast("mean", detail::layout_of(*options.where), detail::layout_of(values)));
    const Array<R> sums = detail::sum_chosen<R>("mean", values, options);
    const AxisMarks marks = detail::marked_axes("mean", options.axis, where.ndim());
    const Array<R> count = detail::sum_over<R>(where, marks, options.keepdims, 1);
    return detail::evaluate(detail::make_expr<rules::divide>(sums, count));
  }
  const AxisMarks marks = detail::marked_axes("mean", options.axis, x.ndim());
  const double n = static_cast<double>(detail::marked_count(marks, detail::frame_of(x)));
  return detail::sum_over<R>(x, marks, options.keepdims, n);
}

struct CountOptions {
  Axis axis = {};
  bool keepdims = false;
};
// How many elements over `axis` are not zero (NaN is not). Throws IndexError if an axis is out of bounds, and
// ValueError if one repeats.
template <detail::ArrayLike X>
Array<std::int32_t> count_nonzero(const X& x, const CountOptions& options = {}) {
  using T = typename X::value_type;
  const AxisMarks marks = detail::marked_axes("count_nonzero", options.axis, x.ndim());
  if constexpr (is_array_v<X>) {
    detail::check_operand("count_nonzero", x);
    if constexpr (std::is_same_v<T, bool>)
      return detail::sum_over<std::int32_t>(x, marks, options.keepdims, 1);
  }
  return detail::sum_over<std::int32_t>(detail::make_expr<rules::not_equal>(x, T(0)), marks, options.keepdims,
                                        1);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/sum-inl.hpp"
#endif
