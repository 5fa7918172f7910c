#pragma once

#include "nax/core/where_used.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/prod.hpp"
#include "nax/numpy/reductions/variance.hpp"

// Reductions that pass over NaN.
NAX_BEGIN
namespace detail {

// x with `value` for NaN, and where the numbers are. Integers have no NaN.
template <class T>
Array<bool> numbers_in(const Array<T>& x) {
  return evaluate(make_expr<rules::equal>(x, x));
}
template <class T>
Array<T> without_nan(const Array<T>& x, T value) {
  if constexpr (!is_inexact_v<T>)
    return x;
  else
    return evaluate(make_selection<rules::where>(numbers_in(x), x, Array<T>(value)));
}

// Options that leave NaN out of a mean or a variance. (The values themselves are replaced as well: a
// derivative multiplies by them, and zero times NaN is NaN.)
template <class Options, class T>
Options numbers_only(Options options, const Array<T>& x) {
  const Array<bool> numbers = numbers_in(x);
  options.where = options.where ? evaluate(make_expr<rules::logical_and>(numbers, *options.where)) : numbers;
  return options;
}

// NaN where there are no more numbers than ddof.
template <class R, class T>
Array<R> with_freedom(const char* function, const Array<R>& spread, const Array<T>& x,
                      const VarOptions& options) {
  if constexpr (!is_inexact_v<T>) {
    return spread;
  } else {
    const VarOptions plain = corrected(function, options);
    using Doubles = where_used_t<Array<double>, T>;
    const where_used_t<Array<std::int32_t>, T> count =
        sum(*numbers_only(plain, x).where, {.axis = plain.axis, .keepdims = plain.keepdims});
    const Array<R> nan(std::numeric_limits<lane_t<R>>::quiet_NaN());
    return evaluate(make_selection<rules::where>(
        make_expr<rules::greater>(count.template astype<double>(), Doubles(plain.ddof)), spread, nan));
  }
}

// Extrema without NaN; where there is no number `initial`, or else NaN.
template <class Op, class T, class F>
Array<T> nan_extremum(const Array<T>& x, const ReduceOptions<T>& options, const F& reduce) {
  if constexpr (!is_inexact_v<T>) {
    return reduce(x);
  } else {
    const Array<T> found = reduce(without_nan(x, static_cast<T>(Op::identity())));
    if (options.initial) return found;
    const Array<bool> numbers = any(numbers_in(x), {.axis = options.axis, .keepdims = options.keepdims});
    const Array<T> nan(std::numeric_limits<lane_t<T>>::quiet_NaN());
    return evaluate(make_selection<rules::where>(numbers, found, nan));
  }
}

}  // namespace detail

// The sum over `axis` of the elements that are not NaN. Throws IndexError if an axis is out of bounds, and
// TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto nansum(const X& x, const SumOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  detail::check_result_dtype("nansum", options.dtype, dtype_of<detail::sum_t<T>>);
  return sum(detail::without_nan(Array<T>(detail::materialise(x)), static_cast<T>(0)), options);
}
template <Dtype R, detail::ArrayLike X>
Array<R> nansum(const X& x, const SumOptions<std::type_identity_t<R>>& options = {}) {
  return detail::in_result_type<R>("nansum", x, options,
                                   [](const auto& terms, const auto& with) { return nansum(terms, with); });
}
// The product over `axis` of the elements that are not NaN. Throws IndexError if an axis is out of bounds,
// and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto nanprod(const X& x, const SumOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  detail::check_result_dtype("nanprod", options.dtype, dtype_of<detail::sum_t<T>>);
  return prod(detail::without_nan(Array<T>(detail::materialise(x)), static_cast<T>(1)), options);
}
template <Dtype R, detail::ArrayLike X>
Array<R> nanprod(const X& x, const SumOptions<std::type_identity_t<R>>& options = {}) {
  return detail::in_result_type<R>("nanprod", x, options,
                                   [](const auto& terms, const auto& with) { return nanprod(terms, with); });
}
// The mean of the numbers over `axis`; NaN where there is none.
template <detail::ArrayLike X>
auto nanmean(const X& x_, const MeanOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  return mean(detail::without_nan(x, static_cast<T>(0)), detail::numbers_only(options, x));
}
// The variance of the numbers over `axis`; NaN where they are no more than ddof. Throws IndexError if an axis
// is out of bounds, and ValueError if both ddof and correction are given.
template <detail::ArrayLike X>
auto nanvar(const X& x_, const VarOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  const auto spread = var(detail::without_nan(x, static_cast<T>(0)), detail::numbers_only(options, x));
  return detail::with_freedom("nanvar", spread, x, options);
}
// The standard deviation of the numbers over `axis`; NaN where they are no more than ddof. Throws IndexError
// if an axis is out of bounds, and ValueError if both ddof and correction are given.
template <detail::ArrayLike X>
auto nanstd(const X& x_, const VarOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  const auto spread = std(detail::without_nan(x, static_cast<T>(0)), detail::numbers_only(options, x));
  return detail::with_freedom("nanstd", spread, x, options);
}
// The largest number over `axis`; NaN where there is none and no `initial`. `where` needs `initial`, as for
// max.
template <detail::ArrayLike X>
auto nanmax(const X& x_, const ReduceOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  return detail::nan_extremum<cpu::reduce_op::Max<detail::lane_t<T>>>(
      Array<T>(detail::materialise(x_)), options, [&](const Array<T>& x) { return max(x, options); });
}
// The smallest of the elements over `axis` that are not NaN.
template <detail::ArrayLike X>
auto nanmin(const X& x_, const ReduceOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  return detail::nan_extremum<cpu::reduce_op::Min<detail::lane_t<T>>>(
      Array<T>(detail::materialise(x_)), options, [&](const Array<T>& x) { return min(x, options); });
}
namespace detail {
// Throws where a slice has no number, and so no place to point at.
template <class T>
void check_numbers(const char* function, const Array<T>& x, const AxisOptions& options) {
  if constexpr (is_inexact_v<T>) {
    if (x.size() == 0) return;  // argmax says so
    if (unknown_while_recording(function, x.device())) return;
    const Array<bool> some = any(numbers_in(typed<T>(constant(x))), {.axis = options.axis});
    const ArrayBase flat = on_host(contiguous(some));
    const bool* has = elements<const bool>(flat, transforms_handled);  // of every example of a vmap
    for (std::int64_t i = 0, n = layout_of(flat).size(); i < n; ++i)
      if (!has[i]) raise<ValueError>({function, ": all-NaN slice encountered"});
  }
}
}  // namespace detail

// The place of the largest number along `axis`, or in row-major order. Throws ValueError where there is none.
template <detail::ArrayLike X>
Array<std::int32_t> nanargmax(const X& x_, const AxisOptions& options = {}) {
  using T = typename X::value_type;
  const auto lowest = static_cast<T>(cpu::reduce_op::Max<detail::lane_t<T>>::identity());
  const Array<T> x = detail::materialise(x_);
  detail::check_numbers("nanargmax", x, options);
  return detail::argument_of("nanargmax", detail::without_nan(x, lowest), options, true);
}
// The place of the smallest element that is not NaN, along an axis. Throws ValueError if a slice has no
// number, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
Array<std::int32_t> nanargmin(const X& x_, const AxisOptions& options = {}) {
  using T = typename X::value_type;
  const auto highest = static_cast<T>(cpu::reduce_op::Min<detail::lane_t<T>>::identity());
  const Array<T> x = detail::materialise(x_);
  detail::check_numbers("nanargmin", x, options);
  return detail::argument_of("nanargmin", detail::without_nan(x, highest), options, false);
}

NAX_END
