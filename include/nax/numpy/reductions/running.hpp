#pragma once

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/nan_reductions.hpp"

// Running sums and products by their array-API names, and those that pass over NaN.
NAX_BEGIN

struct CumulativeArrayOptions {
  Axis axis = {};                   // may be left out for 1-d arrays only
  std::optional<DType> dtype = {};  // as for sum: must be the type that the call has
  bool include_initial = false;
};

namespace detail {

template <class R, class X, class F>
Array<R> cumulative_array(const char* function, const X& x_, const CumulativeArrayOptions& options, R initial,
                          const F& scan) {
  const Array<typename X::value_type> x = materialise(x_);
  check_reducible(function, x);
  check_result_dtype(function, options.dtype, dtype_of<R>);
  if (x.ndim() == 0) raise<ValueError>({function, ": the array must be at least 1-d"});
  if (!options.axis.given() && x.ndim() > 1)
    raise<ValueError>({function, ": axis must be given for an array of ", x.ndim(), " dimensions"});
  if (options.axis.given() && options.axis.list().size() != 1)
    raise<ValueError>({function, ": axis must be one axis"});
  const int axis = options.axis.given() ? normalize_axis(function, options.axis.list()[0], x.ndim()) : 0;
  const Array<R> totals = scan(x, axis);
  if (!options.include_initial) return totals;
  Shape one = x.shape();
  one[static_cast<std::size_t>(axis)] = 1;
  const Array<R> first = typed<R>(beside(totals, filled_on_host<R>(function, one, initial)));
  return concatenate_on(function, std::vector{first, totals}, axis);
}

}  // namespace detail

// The array API's cumsum: one axis, which an array of several must name. With .include_initial a 0 comes
// first, and the axis is longer by one. bool and small integers add up in 32 bits. The result has the shape
// of x but for that. Throws ValueError for a 0-d array and where the axis is missing.
template <detail::ArrayLike X>
auto cumulative_sum(const X& x, const CumulativeArrayOptions& options = {}) {
  using R = detail::sum_t<typename X::value_type>;
  return detail::cumulative_array("cumulative_sum", x, options, R(0.f), [](const auto& a, int axis) {
    return detail::cumsum_axis<R>(a, axis, false);
  });
}
template <Dtype R, detail::ArrayLike X>
Array<R> cumulative_sum(const X& x, const CumulativeArrayOptions& options = {}) {
  return detail::in_result_type<R>("cumulative_sum", x, options, [](const auto& terms, const auto& with) {
    return cumulative_sum(terms, with);
  });
}
// Running products along an axis; the initial value is 1. Throws ValueError for a 0-d array, or one of
// several axes without `axis`.
template <detail::ArrayLike X>
auto cumulative_prod(const X& x, const CumulativeArrayOptions& options = {}) {
  using R = detail::sum_t<typename X::value_type>;
  return detail::cumulative_array("cumulative_prod", x, options, R(1.f), [](const auto& a, int axis) {
    return detail::cumprod_axis<R>(a, axis, false);
  });
}
template <Dtype R, detail::ArrayLike X>
Array<R> cumulative_prod(const X& x, const CumulativeArrayOptions& options = {}) {
  return detail::in_result_type<R>("cumulative_prod", x, options, [](const auto& terms, const auto& with) {
    return cumulative_prod(terms, with);
  });
}

// cumsum and cumprod along `axis`, with 0 and 1 in place of NaN. Throws ValueError unless `axis` is one axis,
// IndexError if it is out of bounds, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto nancumsum(const X& x, const CumulativeOptions& options = {}) {
  using T = typename X::value_type;
  detail::check_result_dtype("nancumsum", options.dtype, dtype_of<detail::cumulative_t<T>>);
  return cumsum(detail::without_nan(Array<T>(detail::materialise(x)), static_cast<T>(0)), options);
}
template <Dtype R, detail::ArrayLike X>
Array<R> nancumsum(const X& x, const CumulativeOptions& options = {}) {
  return detail::in_result_type<R>(
      "nancumsum", x, options, [](const auto& terms, const auto& with) { return nancumsum(terms, with); });
}
// Running products along `axis`, NaN counted as 1. Throws ValueError unless `axis` is one axis, IndexError if
// it is out of bounds, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto nancumprod(const X& x, const CumulativeOptions& options = {}) {
  using T = typename X::value_type;
  detail::check_result_dtype("nancumprod", options.dtype, dtype_of<detail::cumulative_t<T>>);
  return cumprod(detail::without_nan(Array<T>(detail::materialise(x)), static_cast<T>(1)), options);
}
template <Dtype R, detail::ArrayLike X>
Array<R> nancumprod(const X& x, const CumulativeOptions& options = {}) {
  return detail::in_result_type<R>(
      "nancumprod", x, options, [](const auto& terms, const auto& with) { return nancumprod(terms, with); });
}

NAX_END
