#pragma once

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/sequences/differences.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/statistics/bins.hpp"

// How many values fall into each of several bins. Counts are of the type of the values, float for integers,
// as in JAX; they are linear in the weights, and differentiable with regard to those. A bin includes its left
// edge, the last its right one, too. Under vmap each example has its own counts, and its own edges where they
// come from its values; a rule for the number of bins is refused there.
NAX_BEGIN

template <class T>
struct HistogramOptions {
  Bins<T> bins = 10;
  BinRange range = {};
  bool density = false;                  // divide by the total and the width of each bin
  std::optional<Array<T>> weights = {};  // of the array's shape
};

template <class T>
struct Histogram {
  Array<T> hist, bin_edges;
};

namespace detail {

// The sums of the weights, or the numbers of elements, in bins 0 ... count - 1; `bin` of any shape, in
// batches.
template <class T>
Array<T> count_in_bins(const char* function, const Array<std::int32_t>& bin_,
                       const std::optional<Array<T>>& weights_, std::int64_t count) {
  const Array<std::int32_t> bin = reshape_to(function, bin_, Shape{bin_.size()});
  if (!weights_) return as_type<T>(count_bins<std::int32_t>(bin, nullptr, count));
  check_operand(function, *weights_);
  if (!(weights_->shape() == bin_.shape()))
    raise<ShapeError>(
        {function, ": the weights have shape ", weights_->shape(), ", the array ", bin_.shape()});
  const Array<T> weights = reshape_to(function, *weights_, Shape{bin_.size()});
  return count_bins<T>(bin, &weights, count);
}

template <class T, class Options>
void check_rule_and_weights(const char* function, const Bins<T>& bins, const Options& weights) {
  if (weights && !bins.rule().empty())
    raise<TypeError>(
        {function, ": automated estimation of the number of bins is not supported for weighted data"});
}

}  // namespace detail

// The edges that `histogram` would use. The result has shape (n + 1,) for n bins. Throws as histogram does.
template <detail::ArrayLike X>
auto histogram_bin_edges(const X& a,
                         const HistogramOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  static_assert(!is_complex_v<T>, "histogram: complex numbers have no order");
  detail::check_rule_and_weights("histogram_bin_edges", options.bins, options.weights);
  return detail::bin_edges("histogram_bin_edges", detail::as_type<T>(a), options.bins, options.range,
                           is_integer_v<typename X::value_type>);
}

// {hist, bin_edges}: what falls into each bin, and where the bins end. `.bins` is a number, edges, or one of
// NumPy's rules: auto doane fd rice scott sqrt stone sturges. For n bins hist has shape (n,), bin_edges (n +
// 1,). Throws ValueError for no bins, edges that descend, a rule that is not known, a range that is not
// finite; ShapeError for weights of another shape; TypeError for a rule with weights.
template <detail::ArrayLike X>
auto histogram(const X& a, const HistogramOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  static_assert(!is_complex_v<T>, "histogram: complex numbers have no order");
  const Array<T> x = detail::as_type<T>(a);
  detail::check_rule_and_weights("histogram", options.bins, options.weights);
  const Array<T> edges =
      detail::bin_edges("histogram", x, options.bins, options.range, is_integer_v<typename X::value_type>);
  const std::int64_t n = edges.size();
  const Array<T> all =
      detail::count_in_bins("histogram", detail::bin_places("histogram", x, edges), options.weights, n + 1);
  Array<T> hist = all(slice(1, n));
  if (options.density) hist = hist / diff(edges) / sum(hist);
  return Histogram<T>{hist, edges};
}

NAX_END
