#pragma once

#include "nax/modules/stats/tails.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// The beta distribution: density z^(a - 1) (1 - z)^(b - 1) / (B(a, b) scale) for z = (x - loc) / scale in [0,
// 1]. Its distribution function is not differentiable in a and b, as in JAX.
NAX_BEGIN
namespace stats::beta {

// The logarithm of the density.
template <class X, class A, class B>
requires Function<X, A, B>
auto logpdf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A, B>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(where((z < 0) | (z > 1), detail::minus_infinity,
                        detail::log_of_power<R>(a - 1, z) + detail::log_of_rest_power<R>(b - 1, z) -
                            special::betaln(a, b) - detail::log_scale<R>(options)));
}

// The density.
template <class X, class A, class B>
requires Function<X, A, B>
auto pdf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, a_, b_, options))(exp(logpdf(x_, a_, b_, options)));
}

// The distribution function: the probability of at most x.
template <class X, class A, class B>
requires Function<X, A, B>
auto cdf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A, B>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::betainc(a, b, minimum(maximum(z, 0), 1)));
}

// The logarithm of the distribution function.
template <class X, class A, class B>
requires Function<X, A, B>
auto logcdf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A, B>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = minimum(maximum(detail::standardised<R>(x_, options), 0), 1);
  const Array<R> below = special::betainc(a, b, z), above = special::betainc(b, a, 1 - z);
  return detail::log_betainc<R>(a, b, z, below, above);
}

// The survival function: the probability of more than x.
template <class X, class A, class B>
requires Function<X, A, B>
auto sf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A, B>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::betainc(b, a, 1 - minimum(maximum(z, 0), 1)));
}

// The logarithm of the probability of more than x.
template <class X, class A, class B>
requires Function<X, A, B>
auto logsf(const X& x_, const A& a_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A, B>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = minimum(maximum(detail::standardised<R>(x_, options), 0), 1);
  const Array<R> below = special::betainc(a, b, z), above = special::betainc(b, a, 1 - z);
  return detail::log_betainc<R>(b, a, 1 - z, above, below);
}

}  // namespace stats::beta
NAX_END
