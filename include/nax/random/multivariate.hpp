#pragma once

#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/linalg/cholesky.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random/gamma.hpp"
#include "nax/random/orthonormal.hpp"

// Vectors and matrices: JAX's draws.
NAX_BEGIN
namespace random {

struct MultivariateNormalOptions {
  std::string_view method = "cholesky";
};
// Vectors of this mean (..., n) and covariance (..., n, n), which is positive definite, else NaN; `shape` is
// that of the draw without the last axis. Derivatives go to both. Throws ShapeError where they do not fit,
// and ValueError for an unknown method or more than one key.
template <class T = void, class M = Array<float>, class C = Array<float>>
auto multivariate_normal(const Key& key, const M& mean_, const C& cov_, const Shape& shape,
                         const MultivariateNormalOptions& options = {}) {
  using R = detail::sample_t<T, M, C>;
  const Array<R> mean = detail::parameter<R>("multivariate_normal", mean_),
                 cov = detail::parameter<R>("multivariate_normal", cov_);
  if (options.method != "cholesky")
    raise<ValueError>({"multivariate_normal: method must be 'cholesky', got '", options.method, "'"});
  if (mean.ndim() < 1)
    throw ShapeError("multivariate_normal: the mean must have one axis at least, shape ()");
  const std::int64_t n = mean.shape(-1);
  if (cov.ndim() < 2 || cov.shape(-1) != n || cov.shape(-2) != n)
    raise<ShapeError>({"multivariate_normal: the covariance must end in a matrix of the mean's size: shapes ",
                       mean.shape(), " and ", cov.shape()});
  Shape means = mean.shape(), covs = cov.shape(), full = shape;
  means.pop_back();
  covs.pop_back(), covs.pop_back();
  detail::check_fit("multivariate_normal", shape, {&means, &covs});
  full.push_back(n);
  const Array<R> z = normal<R>(key, full);
  full.push_back(1);
  const Array<R> x = nax::matmul(nax::linalg::cholesky(cov), nax::reshape(z, full));
  full.pop_back();
  return Array<R>(mean + nax::reshape(x, full));
}
template <class T = void, class M = Array<float>, class C = Array<float>>
auto multivariate_normal(const Key& key, const M& mean, const C& cov) {
  Shape means = detail::shape_of_parameter(mean), covs = detail::shape_of_parameter(cov);
  for (int i = 0; i < 1 && !means.empty(); ++i) means.pop_back();
  for (int i = 0; i < 2 && !covs.empty(); ++i) covs.pop_back();
  return multivariate_normal<T>(
      key, mean, cov, nax::broadcast_shapes(nax::detail::where_used_t<std::vector<Shape>, M>{means, covs}));
}

struct OrthogonalOptions {
  std::int64_t m = -1;  // the number of columns; n when not given
};
// Matrices (*shape, n, m), uniformly distributed among those whose rows or columns, whichever are fewer, are
// orthonormal. Throws ValueError for a negative size or more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> orthogonal(const Key& key, std::int64_t n, const Shape& shape = {},
                                              const OrthogonalOptions& options = {}) {
  const std::int64_t columns = options.m == -1 ? n : options.m;
  if (n < 0 || columns < 0)
    raise<ValueError>({"orthogonal: the sizes must not be negative, got ", n, " and ", columns});
  Shape full = shape;
  full.push_back(n), full.push_back(columns);
  const std::int64_t tall = std::max(n, columns), few = std::min(n, columns), each = tall * few;
  const auto fill = [=](std::uint64_t k, std::int64_t, std::int64_t size, T* out) {
    std::vector<T> draws(static_cast<std::size_t>(size));
    detail::fill_normal(k, size, draws.data());
    nax::detail::where_used_t<std::vector<double>, T> q(static_cast<std::size_t>(each));
    for (std::int64_t at = 0; at < size; at += each) {
      detail::orthonormal_columns(draws.data() + at, tall, few, q.data());
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          out[at + i * columns + j] =
              static_cast<T>(q[static_cast<std::size_t>(n < columns ? i * tall + j : j * tall + i)]);
    }
  };
  return detail::draw_whole<T>("orthogonal", key, full, fill);
}

// Points of the ball |x_1|^p + ... + |x_d|^p <= 1 in d dimensions: (*shape, d). Throws ValueError if `d` is
// negative, and for more than one key.
template <class T = void, class P = double>
auto ball(const Key& key, std::int64_t d, const P& p_, const Shape& shape = {}) {
  using R = detail::sample_t<T, P>;
  static_assert(std::is_arithmetic_v<P>, "ball: p is a number");
  if (d < 0) raise<ValueError>({"ball: the number of dimensions must not be negative, got ", d});
  const double p = static_cast<double>(p_);
  Shape full = shape;
  full.push_back(d);
  const auto [key_vector, key_radius] = split(key);
  const Array<R> g = generalized_normal<R>(key_vector, p, full), e = exponential<R>(key_radius, shape);
  const Array<R> size = nax::sum(nax::power(nax::abs(g), static_cast<R>(p)), {.axis = -1});
  const Array<R> norm = nax::power(size + e, static_cast<R>(1 / p));
  full.back() = 1;
  return Array<R>(g / nax::reshape(norm, full));
}
template <class T = float>
Array<T> ball(const Key& key, std::int64_t d) {
  return ball<T>(key, d, 2.0);
}

}  // namespace random
NAX_END
