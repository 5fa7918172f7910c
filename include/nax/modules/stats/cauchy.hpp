#pragma once

#include "nax/modules/stats/tails.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"

// The Cauchy distribution: density 1 / (pi scale (1 + z^2)).
NAX_BEGIN
namespace detail {

// The logarithm of the probability of more than z.
template <class Z>
auto log_of_cauchy_tail(const Z& z_) {
  using R = typename Z::value_type;
  const Array<R> z = z_;
  return log_by_smaller<R>(arctan2(1, z) * 0.31830988618379067154, arctan2(1, -z) * 0.31830988618379067154);
}
// By the distance of q to the nearest of 0, 1/2 and 1.
template <class R>
Array<R> cauchy_quantile(const Array<R>& q) {
  constexpr double pi = 3.14159265358979323846;
  const Array<R> below = -1 / tan(pi * q), above = 1 / tan(pi * (1 - q));
  const Array<R> inside = where(q < 0.25, below, where(q > 0.75, above, tan(pi * (q - 0.5))));
  return where((q < 0) | (q > 1), no_number, inside);
}

}  // namespace detail
namespace stats::cauchy {

// The logarithm of the density.
template <class X>
requires Function<X>
auto logpdf(const X& x_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X>;
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(-detail::log1p_of_square(z) - (detail::log_scale<R>(options) + 1.14472988584940017414));
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
  return detail::of_standardised(x_, options, [](const auto& z) { return detail::log_of_cauchy_tail(-z); });
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
  return detail::of_standardised(x_, options, [](const auto& z) { return detail::log_of_cauchy_tail(z); });
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q>
requires Function<Q>
auto ppf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(q_, options, [](const auto& q) { return detail::cauchy_quantile(q); });
}

// Where the survival function is q.
template <class Q>
requires Function<Q>
auto isf(const Q& q_, const LocScaleOptions& options = {}) {
  return detail::of_quantile(
      q_, options, [](const auto& q) { return 0 - detail::cauchy_quantile(q); });  // 0, not -0, at 1/2
}

}  // namespace stats::cauchy
NAX_END
