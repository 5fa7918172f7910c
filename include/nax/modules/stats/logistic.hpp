#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/special/special.hpp"

// The logistic distribution: distribution function 1 / (1 + e^-z).
NAX_BEGIN
namespace stats::logistic {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  const Array<R> a = abs(z);
  return Array<R>(-a - 2 * log1p(exp(-a)) - detail::log_scale<R>(options));
}

// The density.
template <class X>
requires Function<X>
auto pdf(const X& x_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, options))(exp(logpdf(x_, options)));
}

// The distribution function: the probability of at most x.
template <class X>
requires Function<X>
auto cdf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return special::expit(z); });
}

// The survival function: the probability of more than x.
template <class X>
requires Function<X>
auto sf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return special::expit(-z); });
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return special::logit(q); });
}

// Where the survival function is q.
template <class Q>
requires Function<Q>
auto isf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return -special::logit(q); });
}

}  // namespace stats::logistic
NAX_END
