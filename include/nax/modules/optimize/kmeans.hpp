#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "nax/lax/loops.hpp"
#include "nax/lax/segments.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/random/choice.hpp"

// Clusters by the least sum of squared distances.
NAX_BEGIN
namespace optimize {

template <class T>
struct KMeansOptions {
  std::optional<Array<T>> init = {};  // (k, D): the first centroids; k-means++ when not given
  std::int64_t max_iterations = 300;
  double tolerance = 1e-4;  // of the squared movement of the centroids, over the mean variance of x
};
template <class T>
struct KMeans {
  Array<T> centroids;     // (k, D)
  Array<int> labels;      // (N,): the nearest centroid
  Array<T> inertia;       // (): the sum of squared distances to it
  Array<int> iterations;  // ()
};

}  // namespace optimize

namespace detail {

// The nearest centroid of each row of x. In blocks of rows, whose distances fit the cache.
template <class T>
Array<int> nearest_centroids(const Array<T>& x, const Array<T>& centroids) {
  const Array<T> half = sum(centroids * centroids, {.axis = 1}) * T(0.5), across = centroids.T();
  const std::int64_t n = x.shape(0);
  const std::int64_t rows =
      std::max<std::int64_t>((std::int64_t{1} << 22) / std::max<std::int64_t>(half.size(), 1), 256);
  std::vector<Array<int>> all;
  for (std::int64_t at = 0; at < n; at += rows)
    all.push_back(argmin(Array<T>(half - matmul(x(slice(at, std::min(at + rows, n))), across)), {.axis = 1}));
  return all.size() == 1 ? all[0] : Array<int>(concatenate(all));
}
// k rows of x, each drawn with a probability that grows with its squared distance from those before.
template <class T>
Array<T> spread_rows(const random::Key& key, const Array<T>& x, std::int64_t k) {
  const random::Key keys = random::split(key, Shape{k});
  const auto row_of = [&](const Array<int>& at) { return Array<T>(take(x, at, {.axis = 0})); };
  std::vector<Array<T>> rows = {row_of(random::randint(keys[0], {}, 0, static_cast<int>(x.shape(0))))};
  Array<T> nearest;
  for (std::int64_t i = 1; i < k; ++i) {
    const Array<T> squares = sum(square(x - rows.back()), {.axis = 1});
    nearest = i == 1 ? squares : Array<T>(minimum(nearest, squares));
    rows.push_back(row_of(random::categorical(keys[static_cast<int>(i)], Array<T>(log(nearest)))));
  }
  return stack(rows);
}

}  // namespace detail

namespace optimize {

// k clusters of the rows of x (N, D), of floating numbers (half types in float), by Lloyd's method from
// centroids that k-means++ draws (Arthur and Vassilvitskii 2007). A cluster without rows keeps its centroid.
// It maps and is recorded; no gradient passes. Throws ShapeError unless x is 2-d and init (k, D), and
// ValueError unless 1 <= k <= N.
template <class T>
KMeans<T> kmeans(const random::Key& key, const Array<T>& x_, std::int64_t k,
                 const KMeansOptions<std::type_identity_t<T>>& options = {}) {
  using namespace nax::detail;
  static_assert(is_floating_v<T>, "kmeans: x must be of a floating type");
  if (x_.ndim() != 2) raise<ShapeError>({"kmeans: x must be (N, D), shape ", x_.shape()});
  const std::int64_t n = x_.shape(0), d = x_.shape(1);
  if (k < 1 || k > n) raise<ValueError>({"kmeans: k = ", k, " clusters of ", n, " rows"});
  if (options.init && !(options.init->shape() == Shape{k, d}))
    raise<ShapeError>({"kmeans: init must be ", Shape{k, d}, ", shape ", options.init->shape()});
  const ComputeOn beside_x(x_);
  // About the mean, so that products of large numbers do not hide small distances.
  using C = compute_t<T>;  // half types count no further than to 2048
  const auto values_of = [](const Array<T>& a) { return stop_gradient(a.template astype<C>()); };
  const Array<C> middle = mean(values_of(x_), {.axis = 0}), x = values_of(x_) - middle;
  const Array<C> first = options.init ? Array<C>(values_of(*options.init) - middle) : spread_rows(key, x, k);
  const Array<C> enough = mean(var(x, {.axis = 0})) * static_cast<C>(options.tolerance);
  const auto step = [&](const Array<C>& centroids) {
    const Array<int> labels = nearest_centroids(x, centroids);
    const Array<C> counts = lax::segment_sum(ones<C>({n}), labels, {.num_segments = k}).reshape({k, 1}),
                   sums = lax::segment_sum(x, labels, {.num_segments = k});
    return Array<C>(where(counts > C(0), sums / maximum(counts, C(1)), centroids));
  };
  using State = std::tuple<Array<C>, Array<bool>, Array<int>>;
  const int most =
      static_cast<int>(std::clamp<std::int64_t>(options.max_iterations, 0, std::numeric_limits<int>::max()));
  const auto [centroids, moves, iterations] = lax::while_loop(
      [most](const State& s) { return Array<bool>(logical_and(std::get<1>(s), std::get<2>(s) < most)); },
      [&](const State& s) {
        const Array<C> next = step(std::get<0>(s)), moved = next - std::get<0>(s);
        return State{next, Array<bool>(sum(moved * moved) > enough), Array<int>(std::get<2>(s) + 1)};
      },
      State{first, Array<bool>(true), Array<int>(0)});
  const Array<int> labels = nearest_centroids(x, centroids);
  const Array<C> apart = x - take(centroids, labels, {.axis = 0});
  return {Array<C>(centroids + middle).template astype<T>(), labels,
          Array<C>(sum(apart * apart)).template astype<T>(), iterations};
}

}  // namespace optimize
NAX_END
