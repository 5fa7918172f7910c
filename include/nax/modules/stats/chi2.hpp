#pragma once

#include "nax/modules/stats/tails.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// The chi-squared distribution with df degrees of freedom.
NAX_BEGIN
namespace stats::chi2 {

// The logarithm of the density.
template <class X, class DF>
requires Function<X, DF>
auto logpdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  const Array<R> half = df * 0.5;
  return Array<R>(where(z < 0, detail::minus_infinity,
                        detail::log_of_power<R>(half - 1, z) - 0.5 * z - half * 0.69314718055994530942 -
                            special::gammaln(half) - detail::log_scale<R>(options)));
}

// The density.
template <class X, class DF>
requires Function<X, DF>
auto pdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, df_, options))(exp(logpdf(x_, df_, options)));
}

// The distribution function: the probability of at most x.
template <class X, class DF>
requires Function<X, DF>
auto cdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::gammainc(df * 0.5, maximum(z, 0) * 0.5));
}

// The logarithm of the distribution function.
template <class X, class DF>
requires Function<X, DF>
auto logcdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return detail::log_gammainc<R>(df * 0.5, maximum(z, 0) * 0.5);
}

// The survival function: the probability of more than x.
template <class X, class DF>
requires Function<X, DF>
auto sf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::gammaincc(df * 0.5, maximum(z, 0) * 0.5));
}

// The logarithm of the probability of more than x.
template <class X, class DF>
requires Function<X, DF>
auto logsf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return detail::log_gammaincc<R>(df * 0.5, maximum(z, 0) * 0.5);
}

}  // namespace stats::chi2
NAX_END
