#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/extrema.hpp"

// The uniform distribution on [loc, loc + scale].
NAX_BEGIN
namespace stats::uniform {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(where((z < 0) | (z > 1), detail::minus_infinity, -detail::log_scale<R>(options) + 0 * z));
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
  return detail::of_standardised(x_, options, [](const auto& z) { return minimum(maximum(z, 0), 1); });
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options,
                             [](const auto& q) { return where((q < 0) | (q > 1), detail::no_number, q); });
}

}  // namespace stats::uniform
NAX_END
