#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/special/special.hpp"

// The Dirichlet distribution.
NAX_BEGIN
namespace stats::dirichlet {

// x: the probabilities along the first axis, as many as alpha has, or one fewer: the last is then 1 minus
// the sum. The density is 0 off the simplex, and where an x is 0 whose alpha is below 1. Throws ShapeError
// where alpha has not one axis or x another number of entries.
template <detail::ArrayLike X, detail::ArrayLike A>
auto logpdf(const X& x_, const A& alpha_) {
  using R = detail::stats_t<X, A>;
  Array<R> x = detail::stats_operand<R>(x_);
  Array<R> alpha = detail::stats_operand<R>(alpha_);
  if (alpha.ndim() != 1)
    raise<ShapeError>({"dirichlet: alpha must be one-dimensional, shape ", alpha.shape()});
  const std::int64_t n = alpha.shape(0);
  if (x.ndim() == 0 || n == 0 || (x.shape(0) != n && x.shape(0) != n - 1))
    raise<ShapeError>({"dirichlet: x must have as many entries as alpha or one fewer along its first axis: ",
                       x.shape(), " and ", alpha.shape()});
  if (x.shape(0) != n) {
    const Array<R> rest = 1 - sum(x, {.axis = 0, .keepdims = true});
    x = concatenate({x, rest}, {.axis = 0});
  }
  const Array<R> normalizer = sum(special::gammaln(alpha)) - special::gammaln(sum(alpha));
  Shape column{n};
  for (int axis = 1; axis < x.ndim(); ++axis) column.push_back(1);
  alpha = alpha.reshape(column);
  const Array<R> total = sum(x, {.axis = 0});
  const auto inside = all((x > 0) | ((x == 0) & (alpha >= 1)), {.axis = 0}) & (abs(total - 1) < 1e-6);
  return Array<R>(
      where(inside, sum(special::xlogy(alpha - 1, x), {.axis = 0}) - normalizer, detail::minus_infinity));
}
// The density.
template <detail::ArrayLike X, detail::ArrayLike A>
auto pdf(const X& x, const A& alpha) {
  return decltype(logpdf(x, alpha))(exp(logpdf(x, alpha)));
}

}  // namespace stats::dirichlet
NAX_END
