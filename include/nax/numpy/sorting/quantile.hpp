#pragma once

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/quantile_lines.hpp"

// Order statistics and weighted means.
namespace nax::inline NAX_ABI {
namespace detail {

template <class X>
auto one_quantile(const char* function, const X& x, double q, const QuantileOptions& options,
                  bool ignore_nan = false) {
  check_reducible(function, x);
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  auto value = line_quantile(function, quantile_lines(function, x, marks, options, ignore_nan, 1), q, options,
                             ignore_nan);
  return options.keepdims ? with_kept(function, value, x.shape(), marks, 0) : value;
}

template <class X>
auto several_quantiles(const char* function, const X& x, const std::vector<double>& q,
                       const QuantileOptions& options, bool ignore_nan) {
  check_reducible(function, x);
  using T = inexact_t<typename X::value_type>;
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  const QuantileLines<T> lines = quantile_lines(function, x, marks, options, ignore_nan, q.size());
  std::vector<Array<T>> values;
  for (double one : q) values.push_back(line_quantile(function, lines, one, options, ignore_nan));
  const Array<T> all = stack(values);
  return options.keepdims ? with_kept(function, all, x.shape(), marks, 1) : all;
}

template <class T>
std::vector<double> fractions(const char* function, const Array<T>& q, double divisor) {
  std::vector<double> values;
  for (T v : plain_values(function, "q", q)) values.push_back(static_cast<double>(v) / divisor);
  return values;
}
template <Scalar S>
std::vector<double> fractions(const char*, const std::vector<S>& q, double divisor) {
  std::vector<double> values;
  for (const S v : q) values.push_back(static_cast<double>(v) / divisor);
  return values;
}

// What q may be: a number, an array, or numbers in a vector.
template <class Q>
concept Fractions = Operand<Q> || IsVectorOfNumbers<Q>::value;

template <class X, class Q>
auto quantiles(const char* function, const X& x, const Q& q, double divisor, const QuantileOptions& options,
               bool ignore_nan = false) {
  if constexpr (Scalar<Q>)
    return one_quantile(function, x, static_cast<double>(q) / divisor, options, ignore_nan);
  else if constexpr (Expression<Q>)
    return several_quantiles(function, x, fractions(function, as_array(q), divisor), options, ignore_nan);
  else
    return several_quantiles(function, x, fractions(function, q, divisor), options, ignore_nan);
}

}  // namespace detail

// The q-th quantile over `axis`, q in [0, 1]; for a 1-d array or a vector of q one leading axis more. NaN
// where there is a NaN.
template <detail::ArrayLike X, detail::Fractions Q>
auto quantile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("quantile", x, q, 1, options);
}
// The same with q in percent.
template <detail::ArrayLike X, detail::Fractions Q>
auto percentile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("percentile", x, q, 100, options);
}
template <detail::ArrayLike X>
auto median(const X& x, const AxisOptions& options = {}) {
  return detail::one_quantile("median", x, 0.5, {.axis = options.axis, .keepdims = options.keepdims});
}

// The same of the numbers alone; NaN where there is none.
template <detail::ArrayLike X, detail::Fractions Q>
auto nanquantile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("nanquantile", x, q, 1, options, true);
}
template <detail::ArrayLike X, detail::Fractions Q>
auto nanpercentile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("nanpercentile", x, q, 100, options, true);
}
template <detail::ArrayLike X>
auto nanmedian(const X& x, const AxisOptions& options = {}) {
  return detail::one_quantile("nanmedian", x, 0.5, {.axis = options.axis, .keepdims = options.keepdims},
                              true);
}

template <class T>
struct AverageOptions {
  Axis axis = {};
  std::optional<Array<T>> weights = {};  // of the array's shape, or 1-d along one axis
  bool keepdims = false;
};
// The mean weighted by `weights`. Throws ShapeError where they fit neither the array nor the axis.
template <detail::ArrayLike X>
auto average(const X& x_, const AverageOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  if (!options.weights) return mean(x, {.axis = options.axis, .keepdims = options.keepdims});
  Array<T> weights = *options.weights;
  if (!(weights.shape() == x.shape())) {
    const Dims axes = detail::normalize_axes("average", options.axis, x.ndim());
    if (axes.size() != 1 || weights.ndim() != 1 || weights.shape(0) != x.shape(axes[0]))
      raise<ShapeError>({"average: the weights have shape ", weights.shape(), ", the array ", x.shape()});
    Dims shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[static_cast<std::size_t>(axes[0])] = weights.shape(0);
    weights = detail::reshape_to("average", weights, shape);
  }
  const Array<T> whole = detail::broadcast_frame(
      weights, detail::broadcast("average", detail::layout_of(weights),
                                 detail::with_visible(detail::layout_of(weights), x.shape())));
  const auto total = sum(detail::make_expr<rules::multiply>(x, weights),
                         {.axis = options.axis, .keepdims = options.keepdims});
  const auto weight = sum(whole, {.axis = options.axis, .keepdims = options.keepdims});
  return detail::evaluate(detail::make_expr<rules::divide>(total, weight));
}

}  // namespace nax::inline NAX_ABI
