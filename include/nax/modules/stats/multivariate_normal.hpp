#pragma once

#include "nax/linalg/cholesky.hpp"
#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/reshape.hpp"

// The normal distribution of vectors.
NAX_BEGIN
namespace stats::multivariate_normal {

// x: vectors along the last axis; mean: a vector or vectors, or a number; cov: symmetric positive definite
// matrices, or a number, the variance of each entry. What leads broadcasts. Only the lower triangles are
// read, as by linalg::cholesky, whose derivative takes cov for symmetric; NaN where it is not positive
// definite. Throws ShapeError where the sizes do not fit.

// The logarithm of the density.
template <class X, class M, class C>
requires Function<X, M, C>
auto logpdf(const X& x_, const M& mean_, const C& cov_) {
  using R = detail::stats_t<X, M, C>;
  const Array<R> x = detail::stats_operand<R>(x_), mean = detail::stats_operand<R>(mean_),
                 cov = detail::stats_operand<R>(cov_);
  const Array<R> y = x - mean;
  constexpr double log_two_pi = 1.83787706640934548356;
  if (y.ndim() == 0 || (mean.ndim() == 0 && cov.ndim() == 0))
    return Array<R>(-0.5 * (y * y / cov + log(cov) + log_two_pi));
  const std::int64_t n = y.shape(-1);
  const double count = static_cast<double>(n);
  if (cov.ndim() == 0)
    return Array<R>(-0.5 * (sum(y * y, {.axis = -1}) / cov + count * (log(cov) + log_two_pi)));
  if (cov.ndim() < 2 || cov.shape(-1) != n || cov.shape(-2) != n)
    raise<ShapeError>({"multivariate_normal: incompatible shapes: x ", x.shape(), ", mean ", mean.shape(),
                       ", cov ", cov.shape()});
  const Array<R> lower = linalg::cholesky(cov);
  const Array<R> white =
      squeeze(linalg::solve_triangular(lower, expand_dims(y, -1), {.lower = true}), {.axis = -1});
  const Array<R> logarithms = sum(log(diagonal(lower, {.axis1 = -2, .axis2 = -1})), {.axis = -1});
  return Array<R>(-0.5 * sum(white * white, {.axis = -1}) - (logarithms + 0.5 * count * log_two_pi));
}

// The density.
template <class X, class M, class C>
requires Function<X, M, C>
auto pdf(const X& x, const M& mean, const C& cov) {
  return decltype(logpdf(x, mean, cov))(exp(logpdf(x, mean, cov)));
}

}  // namespace stats::multivariate_normal
NAX_END
