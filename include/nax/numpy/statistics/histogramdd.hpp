#pragma once

#include "nax/core/where_used.hpp"
#include "nax/numpy/statistics/histogram.hpp"

// Histograms over several dimensions.
NAX_BEGIN

// The value of `.bins`: for all dimensions alike, or in braces or a vector one for each.
template <class T>
class BinsOfAxes {
 public:
  template <class B>
  requires(std::is_constructible_v<Bins<T>, const B&> && !std::is_same_v<B, BinsOfAxes>)
      BinsOfAxes(const B& bins)
      : bins_(1, Bins<T>(bins)) {}
  BinsOfAxes(std::initializer_list<Bins<T>> bins) : bins_(bins), each_(true) {}
  BinsOfAxes(const std::vector<Bins<T>>& bins) : bins_(bins), each_(true) {}

  // One for each of n dimensions. Throws ValueError where there are others in number.
  std::vector<Bins<T>> over(const char* function, std::int64_t n) const {
    if (!each_) return std::vector<Bins<T>>(static_cast<std::size_t>(n), bins_[0]);
    if (static_cast<std::int64_t>(bins_.size()) != n)
      raise<ValueError>({function, ": the dimension of bins must be equal to the dimension of the sample: ",
                         bins_.size(), " and ", n});
    return bins_;
  }

 private:
  std::vector<Bins<T>> bins_;
  bool each_ = false;
};

template <class T>
struct HistogramddOptions {
  BinsOfAxes<T> bins = 10;
  std::vector<BinRange> range = {};  // one for each dimension, or none at all
  bool density = false;
  std::optional<Array<T>> weights = {};  // a number for each point
};

template <class T>
struct HistogramOfAxes {
  Array<T> H;
  std::vector<Array<T>> edges;
};
template <class T>
struct Histogram2d {
  Array<T> H, xedges, yedges;
};

namespace detail {

// The points by their coordinates.
template <class T>
HistogramOfAxes<T> histogram_of(const char* function, const std::vector<Array<T>>& points,
                                const HistogramddOptions<T>& options, bool whole) {
  static_assert(!is_complex_v<T>, "histogram: complex numbers have no order");
  const std::int64_t dimensions = static_cast<std::int64_t>(points.size());
  if (!options.range.empty() && options.range.size() != points.size())
    raise<ValueError>({function, ": range must have one entry for each dimension: ", options.range.size(),
                       " and ", dimensions});
  const std::vector<Bins<T>> bins = options.bins.over(function, dimensions);
  HistogramOfAxes<T> result;
  Shape grid;
  using Places = where_used_t<Array<std::int32_t>, T>;
  Places place(0);
  for (std::size_t d = 0; d < points.size(); ++d) {
    check_rule_and_weights(function, bins[d], options.weights);
    result.edges.push_back(bin_edges(function, points[d], bins[d],
                                     options.range.empty() ? BinRange() : options.range[d], whole));
    const std::int64_t all = result.edges.back().size() + 1;
    grid.push_back(all);
    if (count_elements(function, grid) > INT32_MAX)
      raise<ValueError>({function, ": too many bins: ", grid, " with those for what lies outside"});
    const Places own = bin_places(function, points[d], result.edges.back());
    place = evaluate(make_expr<rules::add>(
        make_expr<rules::multiply>(place, Places(static_cast<std::int32_t>(all))), own));
  }
  Array<T> counts = reshape_to(
      function, count_in_bins(function, place, options.weights, count_elements(function, grid)), grid);
  for (int d = 0; d < static_cast<int>(dimensions); ++d)
    counts = stretch_of_axis<T>(counts, d, 1, grid[static_cast<std::size_t>(d)] - 2);
  if (options.density) {
    Array<T> density = counts / sum(counts);
    for (int d = 0; d < static_cast<int>(dimensions); ++d) {
      Shape along(Dims(static_cast<std::size_t>(dimensions), 1));
      along[static_cast<std::size_t>(d)] = counts.shape(d);
      density =
          density / reshape_to(function, Array<T>(diff(result.edges[static_cast<std::size_t>(d)])), along);
    }
    counts = density;
  }
  result.H = counts;
  return result;
}

}  // namespace detail

// {H, edges} of points, the rows of `sample` (N, D); a 1-d sample has one dimension. H has an axis for each
// dimension. H has shape (n1, n2, ...) for so many bins. Throws ValueError for samples of more axes, and as
// histogram does.
template <detail::ArrayLike X>
auto histogramdd(const X& sample_,
                 const HistogramddOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  Array<T> sample = detail::as_type<T>(sample_);
  detail::check_operand("histogramdd", sample);
  if (sample.ndim() == 1) sample = expand_dims(sample, 1);
  if (sample.ndim() != 2)
    raise<ValueError>({"histogramdd: the sample must be 2-d, points by dimensions, shape ", sample.shape()});
  std::vector<Array<T>> points;
  for (std::int64_t d = 0; d < sample.shape(1); ++d) points.push_back(sample(_, d));
  if (points.empty()) throw ValueError("histogramdd: the sample has no dimensions");
  return detail::histogram_of("histogramdd", points, options, is_integer_v<typename X::value_type>);
}

// {H, xedges, yedges} of the points (x, y), two 1-d arrays of one length; x goes along the first axis of H. H
// has shape (m, n) for m and n bins. Throws ValueError unless x and y are 1-d and of one length, or for
// invalid bins or ranges.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto histogram2d(
    const X& x_, const Y& y_,
    const HistogramddOptions<inexact_t<promote_t<typename X::value_type, typename Y::value_type>>>& options =
        {}) {
  using T = inexact_t<promote_t<typename X::value_type, typename Y::value_type>>;
  const Array<T> x = detail::as_type<T>(x_), y = detail::as_type<T>(y_);
  if (x.ndim() != 1 || y.ndim() != 1 || x.size() != y.size())
    raise<ValueError>(
        {"histogram2d: x and y must be 1-d and of one length: ", x.shape(), " and ", y.shape()});
  const bool whole = is_integer_v<typename X::value_type> && is_integer_v<typename Y::value_type>;
  auto both = detail::histogram_of("histogram2d", std::vector{x, y}, options, whole);
  return Histogram2d<T>{both.H, both.edges[0], both.edges[1]};
}

NAX_END
