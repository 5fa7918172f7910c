#pragma once

#include "nax/modules/stats/tails.hpp"

// The Pareto distribution of shape b: density b z^-(b + 1) / scale for z >= 1.
NAX_BEGIN
namespace stats::pareto {

// The logarithm of the density.
template <class X, class B>
requires Function<X, B>
auto logpdf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, B>;
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(
      where(z < 1, detail::minus_infinity, log(b) - (b + 1) * log(z) - detail::log_scale<R>(options)));
}

// The density.
template <class X, class B>
requires Function<X, B>
auto pdf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, b_, options))(exp(logpdf(x_, b_, options)));
}

// The logarithm of the probability of more than x.
template <class X, class B>
requires Function<X, B>
auto logsf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, B>;
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(where(z < 1, 0, -b * log(z)));
}

// The survival function: the probability of more than x.
template <class X, class B>
requires Function<X, B>
auto sf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  return decltype(logsf(x_, b_, options))(exp(logsf(x_, b_, options)));
}

// The distribution function: the probability of at most x.
template <class X, class B>
requires Function<X, B>
auto cdf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, B>;
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(where(z < 1, 0, -expm1(-b * log(z))));
}

// The logarithm of the distribution function.
template <class X, class B>
requires Function<X, B>
auto logcdf(const X& x_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, B>;
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(where(z < 1, detail::minus_infinity, detail::log_of_rest<R>(b * log(z))));
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q, class B>
requires Function<Q, B>
auto ppf(const Q& q_, const B& b_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<Q, B>;
  const Array<R> b = detail::stats_operand<R>(b_);
  const Array<R> q = detail::stats_operand<R>(q_);
  return detail::unstandardised<R>(where((q < 0) | (q > 1), detail::no_number, exp(-log1p(-q) / b)), options);
}

}  // namespace stats::pareto
NAX_END
