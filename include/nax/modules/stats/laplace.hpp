#pragma once

#include "nax/modules/stats/parameter.hpp"

// The Laplace distribution: density e^-|z| / (2 scale).
NAX_BEGIN
namespace stats::laplace {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(-abs(z) - 0.69314718055994530942 - detail::log_scale<R>(options));
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
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  const Array<R> tail = 0.5 * exp(-abs(z));
  return Array<R>(where(z < 0, tail, 1 - tail));
}

}  // namespace stats::laplace
NAX_END
