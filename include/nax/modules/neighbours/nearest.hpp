#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/rules/unit_interval.hpp"
#include "nax/transform/checkpoint.hpp"

// The nearest of many vectors.
NAX_BEGIN
namespace neighbours {

struct NearestOptions {
  std::int64_t k = 10;
  // "l2": the sum of squared differences; "ip": 1 - the inner product; "cosine": 1 - that of vectors of
  // length 1
  std::string metric = "l2";
};
template <class T>
struct Neighbours {
  Array<std::int64_t> indices;  // (m, k), the nearest first
  Array<T> distances;           // (m, k)
};

}  // namespace neighbours

namespace detail {

enum class Metric { l2, inner_product, cosine };
inline Metric metric_of(const char* function, const std::string& name) {
  if (name == "l2") return Metric::l2;
  if (name == "ip") return Metric::inner_product;
  if (name == "cosine") return Metric::cosine;
  raise<ValueError>({function, ": metric '", name, "' is none of 'l2', 'ip', 'cosine'"});
}
// Rows of length 1; a row of zeros stays.
template <class T>
Array<T> unit_rows(const Array<T>& x) {
  // By the largest element first: squares of small and large numbers leave the range of T.
  const Array<T> largest = stop_gradient(max(abs(x), {.axis = -1, .keepdims = true, .initial = T(0)})),
                 near = x / where(largest == T(0), T(1), largest),
                 squares = sum(near * near, {.axis = -1, .keepdims = true});
  return near / sqrt(where(squares == T(0), T(1), squares));
}
// The k nearest to some queries. `halves`: half of each vector's square, for l2.
template <class T>
neighbours::Neighbours<T> nearest_of_block(const Array<T>& vectors, const Array<T>& across,
                                           const Array<T>& halves, const Array<T>& queries, std::int64_t k,
                                           Metric metric) {
  Array<T> scores = matmul(queries, across);
  if (metric == Metric::l2)  // (halves may be infinite, beside products that are)
    scores = where(isinf(halves), -std::numeric_limits<T>::infinity(), scores - halves);
  auto best = top_k(scores, k);
  Array<std::int64_t> indices = best.indices.template astype<std::int64_t>();
  if (metric != Metric::l2) return {std::move(indices), Array<T>(T(1) - best.values)};
  // From the differences, which are right where the squares are large beside them.
  const Array<T> apart = expand_dims(queries, 1) - take(vectors, indices, {.axis = 0}),
                 distances = sum(apart * apart, {.axis = -1});
  const Array<int> order = argsort(distances, {.axis = 1});
  return {Array<std::int64_t>(take_along_axis(indices, order, 1)),
          Array<T>(take_along_axis(distances, order, 1))};
}

}  // namespace detail

namespace neighbours {

// The k rows of `vectors` (n, d) nearest to each row of `queries` (m, d): indices and distances, (m, k), the
// nearest first. Exact, by products of blocks of queries with all vectors and top_k, of half types in float:
// for "l2" vectors may be missed whose distances differ by less than the rounding of the greatest square
// about the mean. Vectors with a NaN are among the k, as top_k takes NaN first, at a distance of NaN: first
// for "ip" and "cosine", last for "l2". It maps and is recorded; gradients pass to the distances. Throws
// ShapeError unless both are 2-d of one width, and ValueError unless k is in 1 to n and for another metric.
template <class T>
Neighbours<T> nearest(const Array<T>& vectors_, const Array<T>& queries_,
                      const NearestOptions& options = {}) {
  using namespace nax::detail;
  static_assert(is_floating_v<T>, "nearest: vectors must be of a floating type");
  const Metric metric = metric_of("nearest", options.metric);
  if (vectors_.ndim() != 2 || queries_.ndim() != 2 || vectors_.shape(1) != queries_.shape(1))
    raise<ShapeError>({"nearest: vectors must be (n, d) and queries (m, d), shapes ", vectors_.shape(),
                       " and ", queries_.shape()});
  const std::int64_t n = vectors_.shape(0), m = queries_.shape(0), k = options.k;
  if (k < 1 || k > n) raise<ValueError>({"nearest: k = ", k, " of ", n, " vectors"});
  const ComputeOn beside_vectors(vectors_);
  using C = compute_t<T>;  // squares of half types overflow
  Array<C> vectors = vectors_.template astype<C>(), queries = queries_.template astype<C>();
  if (metric == Metric::cosine) {
    vectors = unit_rows(vectors), queries = unit_rows(queries);
  } else if (metric == Metric::l2) {
    // About the mean, so that products of large numbers do not hide small distances.
    const Array<C> mean_of_all = mean(stop_gradient(vectors), {.axis = 0}),
                   middle = where(isfinite(mean_of_all), mean_of_all, C(0));
    vectors = vectors - middle, queries = queries - middle;
  }
  const Array<C> across = vectors.T();
  const Array<C> halves =
      metric == Metric::l2 ? Array<C>(sum(vectors * vectors, {.axis = 1}) * C(0.5)) : Array<C>(C(0));
  // A block's scores are (rows, n), its differences for l2 (rows, k, d).
  constexpr std::int64_t most = std::int64_t{1} << 24;
  std::int64_t rows = std::max<std::int64_t>(most / n, 16);
  if (metric == Metric::l2)
    rows = std::clamp<std::int64_t>(most / std::max<std::int64_t>(k * vectors.shape(1), 1), 1, rows);
  std::vector<Array<std::int64_t>> indices;
  std::vector<Array<T>> distances;
  for (std::int64_t at = 0; at < m || at == 0; at += rows) {
    auto block = nearest_of_block(vectors, across, halves,
                                  Array<C>(queries(slice(at, std::min(at + rows, m)))), k, metric);
    indices.push_back(std::move(block.indices));
    distances.push_back(block.distances.template astype<T>());
  }
  if (indices.size() == 1) return {std::move(indices[0]), std::move(distances[0])};
  return {Array<std::int64_t>(concatenate(indices)), Array<T>(concatenate(distances))};
}

}  // namespace neighbours
NAX_END
