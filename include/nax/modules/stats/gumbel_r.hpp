#pragma once

#include "nax/modules/stats/tails.hpp"

// The right-skewed Gumbel distribution: distribution function e^(-e^-z).
NAX_BEGIN
namespace stats::gumbel_r {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(-z - exp(-z) - detail::log_scale<R>(options));
}

// The density.
template <class X>
requires Function<X>
auto pdf(const X& x_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, options))(exp(logpdf(x_, options)));
}

// The logarithm of the distribution function.
template <class X>
requires Function<X>
auto logcdf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return -exp(-z); });
}

// The distribution function: the probability of at most x.
template <class X>
requires Function<X>
auto cdf(const X& x_, const LocScaleOptions& options = {}) {
  return decltype(logcdf(x_, options))(exp(logcdf(x_, options)));
}

// The survival function: the probability of more than x.
template <class X>
requires Function<X>
auto sf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  return detail::rest_at_exp<R>(-detail::standardised<R>(x_, options));
}

// The logarithm of the probability of more than x.
template <class X>
requires Function<X>
auto logsf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  return detail::log_of_rest_at_exp<R>(-detail::standardised<R>(x_, options));
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return -log(-log(q)); });
}

}  // namespace stats::gumbel_r
NAX_END
