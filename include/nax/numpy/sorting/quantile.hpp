#pragma once

#include <string_view>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Order statistics and weighted means.
namespace nax::inline NAX_ABI {

struct QuantileOptions {
  Axis axis = {};
  std::string_view method = "linear";  // or "lower", "higher", "midpoint", "nearest"
  bool keepdims = false;
};

namespace detail {

// The marked axes joined into the last one.
template <class T>
Array<T> marked_last(const char* function, const Array<T>& x, const AxisMarks& marks) {
  Dims order, shape;
  std::int64_t n = 1;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (!marks[static_cast<std::size_t>(axis)]) order.push_back(axis), shape.push_back(x.shape(axis));
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (marks[static_cast<std::size_t>(axis)]) order.push_back(axis), n *= x.shape(axis);
  shape.push_back(n);
  return reshape_to(function, permute(x, order), shape);
}

// A result of axes `lead` + those that were not marked, with the marked ones kept as extents of 1.
template <class T>
Array<T> with_kept(const char* function, const Array<T>& y, const Shape& from, const AxisMarks& marks,
                   int lead) {
  Dims shape;
  for (int axis = 0; axis < lead; ++axis) shape.push_back(y.shape(axis));
  for (std::size_t axis = 0; axis < from.size(); ++axis) shape.push_back(marks[axis] ? 1 : from[axis]);
  return reshape_to(function, y, shape);
}

// One quantile of sorted lines: between two neighbours. NaN, sorted last, makes the whole line NaN.
template <class T>
Array<T> quantile_of_sorted(const char* function, const Array<T>& sorted, double q, std::string_view method) {
  if (!(q >= 0 && q <= 1)) raise<ValueError>({function, ": quantiles must be in the range [0, 1]"});
  const std::int64_t n = sorted.shape(-1);
  const double place = q * static_cast<double>(n - 1);
  std::int64_t low = static_cast<std::int64_t>(place),
               high = low + (static_cast<double>(low) < place ? 1 : 0);
  double weight = place - static_cast<double>(low);
  if (method == "lower") {
    weight = 0;
  } else if (method == "higher") {
    weight = high > low ? 1 : 0;
  } else if (method == "midpoint") {
    weight = high > low ? 0.5 : 0;
  } else if (method == "nearest") {
    weight = weight > 0.5 || (weight == 0.5 && low % 2 == 1) ? 1 : 0;
  } else if (method != "linear") {
    raise<ValueError>({function, ": unknown method '", method, "'"});
  }
  Array<T> value = weight == 1 ? sorted(ellipsis, high) : sorted(ellipsis, low);
  if (weight > 0 && weight < 1)
    value =
        evaluate(make_expr<rules::add>(scaled(value, 1 - weight), scaled(sorted(ellipsis, high), weight)));
  const Array<T> last = sorted(ellipsis, n - 1);
  return evaluate(make_selection<rules::where>(make_expr<rules::equal>(last, last), value, last));
}

template <class X>
auto sorted_lines(const char* function, const X& x_, const AxisMarks& marks) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> lines = marked_last(function, as_type<T>(x_), marks);
  if (lines.shape(-1) == 0) raise<ValueError>({function, ": the array has no elements along the axis"});
  return sort_axis(lines, lines.ndim() - 1, false);
}

template <class X>
auto one_quantile(const char* function, const X& x, double q, const QuantileOptions& options) {
  check_reducible(function, x);
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  auto value = quantile_of_sorted(function, sorted_lines(function, x, marks), q, options.method);
  return options.keepdims ? with_kept(function, value, x.shape(), marks, 0) : value;
}

template <class X>
auto several_quantiles(const char* function, const X& x, const std::vector<double>& q,
                       const QuantileOptions& options) {
  check_reducible(function, x);
  using T = inexact_t<typename X::value_type>;
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  const Array<T> sorted = sorted_lines(function, x, marks);
  std::vector<Array<T>> values;
  for (double one : q) values.push_back(quantile_of_sorted(function, sorted, one, options.method));
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
auto quantiles(const char* function, const X& x, const Q& q, double divisor, const QuantileOptions& options) {
  if constexpr (Scalar<Q>)
    return one_quantile(function, x, static_cast<double>(q) / divisor, options);
  else if constexpr (Expression<Q>)
    return several_quantiles(function, x, fractions(function, as_array(q), divisor), options);
  else
    return several_quantiles(function, x, fractions(function, q, divisor), options);
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
