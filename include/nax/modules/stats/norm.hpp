#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/special/normal.hpp"
#include "nax/special/special.hpp"

// The normal distribution: mean loc, standard deviation scale.
NAX_BEGIN
namespace stats::norm {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(-0.5 * z * z - (detail::log_scale<R>(options) + 0.91893853320467274178));
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
  return detail::of_standardised(x_, options, [](const auto& z) { return special::log_ndtr(z); });
}

// The distribution function: the probability of at most x.
template <class X>
requires Function<X>
auto cdf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return special::ndtr(z); });
}

// The logarithm of the probability of more than x.
template <class X>
requires Function<X>
auto logsf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return special::log_ndtr(-z); });
}

// The survival function: the probability of more than x.
template <class X>
requires Function<X>
auto sf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options, [](const auto& z) { return special::ndtr(-z); });
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return special::ndtri(q); });
}

// Where the survival function is q.
template <class Q>
requires Function<Q>
auto isf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return -special::ndtri(q); });
}

}  // namespace stats::norm
NAX_END
