#pragma once

#include <limits>
#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/sorting/quantile_methods.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Quantiles of the lines of an array: between two neighbours of the sorted line, with NaN or past it, or
// where the weights come to a share.
NAX_BEGIN

// The value of a `weights` option: an array of any real type.
class Weights {
 public:
  Weights() = default;
  template <detail::ArrayLike W>
  Weights(const W& weights) : array_(detail::as_type<double>(weights)) {}
  const std::optional<Array<double>>& array() const { return array_; }

 private:
  std::optional<Array<double>> array_;
};

struct QuantileOptions {
  Axis axis = {};
  // One of NumPy's: inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen
  // weibull linear median_unbiased normal_unbiased lower higher midpoint nearest.
  std::string_view method = "linear";
  bool keepdims = false;
  Weights weights = {};  // of the array's shape, or 1-d along one axis; for the method "inverted_cdf"
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

NAX_ENGINE void check_fraction(const char* function, double q);

// The lines whose quantiles are asked for, most of the time sorted, and with weights the share of them up to
// each element.
template <class T>
struct QuantileLines {
  Array<T> lines;
  bool sorted = true;
  std::optional<Array<double>> share = {};
};

// Of each line along the last axis three elements: those that a sort would put at `rank` and behind it, and
// one that is NaN where one of the line is, which the first two are then as well; or their places (int32).
NAX_ENGINE ArrayBase selected_of_lines(const ArrayBase& x, std::int64_t rank, bool places);
template <class T>
Array<T> selected_from(const Array<T>& x, std::int64_t rank) {
  cpu::provide<cpu::QuantileKernel, sortable_t<T>>();
  const bool recorded = is_recorded(x);
  ArrayBase found = selected_of_lines(handle_of(x), rank, recorded);
  return recorded ? take_along_axis(x, typed<std::int32_t>(std::move(found)), -1)
                  : typed<T>(std::move(found));
}

// One quantile of the lines: between two neighbours. NaN, sorted last, makes the whole line NaN.
template <class T>
Array<T> quantile_between(const char* function, const QuantileLines<T>& lines, double q,
                          std::string_view method) {
  check_fraction(function, q);
  const std::int64_t n = lines.lines.shape(-1);
  const auto [low, high, weight] = quantile_place(quantile_method(function, method), q, n);
  const Array<T> from = lines.sorted ? lines.lines : selected_from(lines.lines, low);
  const auto at = [&, rank = low](std::int64_t place) {
    return from(ellipsis, lines.sorted ? place : place == rank ? 0 : 1);
  };
  Array<T> value = weight == 1 ? at(high) : at(low);
  if (weight > 0 && weight < 1)
    value = evaluate(make_expr<rules::add>(scaled(value, 1 - weight), scaled(at(high), weight)));
  const Array<T> last = from(ellipsis, lines.sorted ? n - 1 : 2);
  return evaluate(make_selection<rules::where>(make_expr<rules::equal>(last, last), value, last));
}

// The elements at these places of the lines, a place a line.
template <class T>
Array<T> picked(const Array<T>& lines, const Array<std::int64_t>& place) {
  const Array<T> values =
      get(lines, along_selection(layout_of(lines), expand_dims(place, -1), lines.ndim() - 1));
  Dims shape = values.shape();
  shape.pop_back();
  return reshape_to("quantile", values, shape);
}

// The places of a quantile in lines of these numbers of elements. On a GPU they are read from a table of all
// numbers up to `most`, which the host makes: so they are the CPU's to the last bit.
struct QuantilePlaces {
  Array<std::int64_t> low, high;
  Array<double> weight;
};
NAX_ENGINE QuantilePlaces quantile_places(QuantileMethod method, double q, const Array<std::int32_t>& numbers,
                                          std::int64_t most);

// Quantiles of the elements that are not NaN, which come first; NaN where there are none.
template <class T>
Array<T> nan_quantile_of_sorted(const char* function, const Array<T>& sorted, double q,
                                std::string_view method) {
  check_fraction(function, q);
  check_recordable(function, sorted);
  const Array<T> plain = typed<T>(constant(sorted));
  const Array<std::int32_t> numbers = count_nonzero(make_expr<rules::equal>(plain, plain), {.axis = -1});
  const auto [low, high, weight] =
      quantile_places(quantile_method(function, method), q, numbers, sorted.shape(-1));
  const Array<T> below = picked(sorted, low), above = picked(sorted, high), w = as_type<T>(weight);
  const T one(1), zero(0);
  const Array<T> left = evaluate(make_expr<rules::multiply>(below, make_expr<rules::subtract>(one, w))),
                 right = evaluate(make_expr<rules::multiply>(above, w));
  // At a place itself the neighbour plays no part, were it infinite.
  const Array<T> between = evaluate(make_selection<rules::where>(make_expr<rules::equal>(w, one), above,
                                                                 make_expr<rules::add>(left, right)));
  return evaluate(make_selection<rules::where>(make_expr<rules::equal>(w, zero), below, between));
}

// The first element up to which the weights come to the share q.
template <class T>
Array<T> weighted_quantile(const char* function, const QuantileLines<T>& lines, double q) {
  check_fraction(function, q);
  const where_used_t<Array<std::int64_t>, T> before =
      as_type<std::int64_t>(count_nonzero(make_expr<rules::less>(*lines.share, q), {.axis = -1}));
  const std::int64_t last = lines.lines.shape(-1) - 1;
  return picked(lines.lines, evaluate(make_expr<rules::minimum>(before, last)));
}

template <class T>
Array<double> weights_like(const char* function, const Array<T>& x, Array<double> weights,
                           const AxisMarks& marks) {
  check_operand(function, weights);
  if (!(weights.shape() == x.shape())) {
    Dims shape;
    std::int64_t extent = -1, count = 0;
    for (int axis = 0; axis < x.ndim(); ++axis) {
      const bool marked = marks[static_cast<std::size_t>(axis)];
      shape.push_back(marked ? x.shape(axis) : 1);
      if (marked) extent = x.shape(axis), ++count;
    }
    if (count != 1 || weights.ndim() != 1 || weights.shape(0) != extent)
      raise<ShapeError>({function, ": the weights have shape ", weights.shape(), ", the array ", x.shape()});
    weights = broadcast_visible(function, reshape_to(function, weights, shape), x.shape());
  }
  return typed<double>(constant(weights));
}

// Throws ValueError for weights that are no weights, in any example.
NAX_ENGINE void check_weights(const char* function, const Array<double>& weights);

// `count`: how many quantiles are asked for; few are selected from lines that are not sorted.
template <class X>
auto quantile_lines(const char* function, const X& x_, const AxisMarks& marks, const QuantileOptions& options,
                    bool ignore_nan, std::size_t count) {
  constexpr std::size_t few = 4;
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = as_type<T>(x_), lines = marked_last(function, x, marks);
  if (lines.shape(-1) == 0) raise<ValueError>({function, ": the array has no elements along the axis"});
  const int axis = lines.ndim() - 1;
  if (!options.weights.array()) {
    if (count <= few && !ignore_nan && backend::has<ops::Quantile>(lines.device(), dtype_of<T>))
      return QuantileLines<T>{lines, false};
    return QuantileLines<T>{sort_axis(lines, axis, false)};
  }
  if (options.method != "inverted_cdf")
    raise<ValueError>(
        {function, ": weights go with the method 'inverted_cdf' only, not '", options.method, "'"});
  device_for(function, x, *options.weights.array());  // together
  provide_extremes<double>();
  check_weights(function, *options.weights.array());
  auto weights = weights_like(function, x, *options.weights.array(), marks);
  const Array<T> plain = typed<T>(constant(x));
  if (ignore_nan)
    weights = evaluate(make_selection<rules::where>(make_expr<rules::equal>(plain, plain), weights, 0.0));
  weights = marked_last(function, weights, marks);
  const Array<std::int32_t> order = argsort_axis(typed<T>(constant(lines)), axis, false);
  const auto share = cumsum(take_along_axis(weights, order, -1), {.axis = -1});
  const Array<double> total = share(ellipsis, slice(share.shape(-1) - 1, none));
  // No share at all: nothing that even the share 0 is looked for in.
  const Array<double> part = evaluate(make_selection<rules::where>(make_expr<rules::equal>(share, 0.0), -1.0,
                                                                   make_expr<rules::divide>(share, total)));
  return QuantileLines<T>{take_along_axis(lines, order, -1), true, part};
}

template <class T>
Array<T> line_quantile(const char* function, const QuantileLines<T>& lines, double q,
                       const QuantileOptions& options, bool ignore_nan) {
  if (!lines.share)
    return ignore_nan ? nan_quantile_of_sorted(function, lines.lines, q, options.method)
                      : quantile_between(function, lines, q, options.method);
  const Array<T> value = weighted_quantile(function, lines, q);
  if (ignore_nan) return value;
  const Array<T> last = lines.lines(ellipsis, lines.lines.shape(-1) - 1);
  return evaluate(make_selection<rules::where>(make_expr<rules::equal>(last, last), value, last));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sorting/quantile_lines-inl.hpp"
#endif
