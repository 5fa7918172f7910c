#pragma once

#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

#include "nax/core/from_chars.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/quantile_lines.hpp"

// Order statistics and weighted means.
NAX_BEGIN
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
  const Array<T> all = q.empty() ? Array<T>(stack(std::vector<Array<T>>{
                                       line_quantile(function, lines, 0, options, ignore_nan)})(slice(0, 0)))
                                 : stack(values);
  return options.keepdims ? with_kept(function, all, x.shape(), marks, 1) : all;
}

// A fraction as a double. That of a float is the decimal that it is written as, so that 0.3f of ten elements
// is three, as it is in float.
template <class T>
double fraction(T q) {
  if constexpr (std::is_same_v<T, float>) {
    char text[32];
    double value = static_cast<double>(q);
    const auto [end, error] = std::to_chars(std::begin(text), std::end(text), q);
    if (error == std::errc() && std::isfinite(q)) number_from_chars(text, end, value);
    return value;
  } else {
    return static_cast<double>(q);
  }
}

template <class T>
std::vector<double> fractions(const char* function, const Array<T>& q, double divisor) {
  std::vector<double> values;
  for (T v : plain_values(function, "q", q)) values.push_back(fraction(v) / divisor);
  return values;
}
template <Scalar S>
std::vector<double> fractions(const char*, const std::vector<S>& q, double divisor) {
  std::vector<double> values;
  for (const S v : q) values.push_back(fraction(v) / divisor);
  return values;
}

// For an array of q its axes lead.
template <class X, class T>
auto shaped_quantiles(const char* function, const X& x, const Array<T>& q, double divisor,
                      const QuantileOptions& options, bool ignore_nan) {
  check_operand(function, q);
  const Array<T> flat = q.ndim() == 1 ? q : reshape_to(function, q, Shape{q.size()});
  const auto all = several_quantiles(function, x, fractions(function, flat, divisor), options, ignore_nan);
  if (q.ndim() == 1) return all;
  Dims shape = q.shape();
  for (int axis = 1; axis < all.ndim(); ++axis) shape.push_back(all.shape(axis));
  return reshape_to(function, all, shape);
}

// The types of q: a number, an array, or numbers in a vector.
template <class Q>
concept Fractions = Operand<Q> || IsVectorOfNumbers<Q>::value;

template <class X, class Q>
auto quantiles(const char* function, const X& x, const Q& q, double divisor, const QuantileOptions& options,
               bool ignore_nan = false) {
  if constexpr (Scalar<Q>)
    return one_quantile(function, x, fraction(q) / divisor, options, ignore_nan);
  else if constexpr (IsVectorOfNumbers<Q>::value)
    return several_quantiles(function, x, fractions(function, q, divisor), options, ignore_nan);
  else
    return shaped_quantiles(function, x, as_array(q), divisor, options, ignore_nan);
}

}  // namespace detail

// The q-th quantile over `axis`, q in [0, 1]; for an array of q its axes lead those of the result, for a
// vector one axis. NaN where there is a NaN. Throws ValueError if a fraction is out of range, the method is
// unknown or there are no elements, IndexError if an axis is out of bounds, and ShapeError if the weights do
// not fit.
template <detail::ArrayLike X, detail::Fractions Q>
auto quantile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("quantile", x, q, 1, options);
}
// Quantiles with q in percent. As quantile. Throws ValueError if a fraction is out of range, the method is
// unknown or there are no elements, IndexError if an axis is out of bounds, and ShapeError if the weights do
// not fit.
template <detail::ArrayLike X, detail::Fractions Q>
auto percentile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("percentile", x, q, 100, options);
}
// The middle element along the axes, the mean of two where their number is even; NaN where one is. Throws
// IndexError if an axis is out of bounds, and ValueError if there are no elements.
template <detail::ArrayLike X>
auto median(const X& x, const AxisOptions& options = {}) {
  return detail::one_quantile("median", x, 0.5, {.axis = options.axis, .keepdims = options.keepdims});
}

// Quantiles over `axis` of the elements that are not NaN; NaN where there are none. Throws ValueError if a
// fraction is out of range, the method is unknown or there are no elements, IndexError if an axis is out of
// bounds, and ShapeError if the weights do not fit.
template <detail::ArrayLike X, detail::Fractions Q>
auto nanquantile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("nanquantile", x, q, 1, options, true);
}
// Percentiles over `axis` of the elements that are not NaN. Throws ValueError if a fraction is out of range,
// the method is unknown or there are no elements, IndexError if an axis is out of bounds, and ShapeError if
// the weights do not fit.
template <detail::ArrayLike X, detail::Fractions Q>
auto nanpercentile(const X& x, const Q& q, const QuantileOptions& options = {}) {
  return detail::quantiles("nanpercentile", x, q, 100, options, true);
}
// The median over `axis` of the elements that are not NaN. Throws IndexError if an axis is out of bounds, and
// ValueError if there are no elements.
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
// The mean over `axis`, weighted by `weights`. Throws ShapeError where they fit neither the array nor the
// axis.
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
  return detail::in_lanes<T>(
      [&](const auto& values, const auto& by, const auto& all) {
        const auto total = sum(detail::make_expr<rules::multiply>(values, by),
                               {.axis = options.axis, .keepdims = options.keepdims});
        const auto weight = sum(all, {.axis = options.axis, .keepdims = options.keepdims});
        return detail::evaluate(detail::make_expr<rules::divide>(total, weight));
      },
      x, weights, whole);
}

NAX_END
