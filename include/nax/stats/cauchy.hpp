#pragma once

#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/stats/parameter.hpp"

// The Cauchy distribution: density 1 / (pi scale (1 + z^2)).
NAX_BEGIN
namespace stats::cauchy {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(-log1p(z * z) - (detail::log_scale<R>(options) + 1.14472988584940017414));
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
  return detail::of_standardised(x_, options,
                                 [](const auto& z) { return arctan2(1, -z) * 0.31830988618379067154; });
}

// The logarithm of the distribution function.
template <class X>
requires Function<X>
auto logcdf(const X& x_, const LocScaleOptions& options = {}) {
  return decltype(cdf(x_, options))(log(cdf(x_, options)));
}

// The survival function: the probability of more than x.
template <class X>
requires Function<X>
auto sf(const X& x_, const LocScaleOptions& options = {}) {
  return detail::of_standardised(x_, options,
                                 [](const auto& z) { return arctan2(1, z) * 0.31830988618379067154; });
}

// The logarithm of the probability of more than x.
template <class X>
requires Function<X>
auto logsf(const X& x_, const LocScaleOptions& options = {}) {
  return decltype(sf(x_, options))(log(sf(x_, options)));
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options,
                             [](const auto& q) { return tan(3.14159265358979323846 * (q - 0.5)); });
}

// Where the survival function is q.
template <class Q>
requires Function<Q>
auto isf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options,
                             [](const auto& q) { return tan(3.14159265358979323846 * (0.5 - q)); });
}

}  // namespace stats::cauchy
NAX_END
