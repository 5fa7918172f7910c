#pragma once

#include "nax/modules/stats/tails.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// The gamma distribution of shape a: density z^(a - 1) e^-z / (Gamma(a) scale), z = (x - loc) / scale.
NAX_BEGIN
namespace stats::gamma {

// The logarithm of the density.
template <class X, class A>
requires Function<X, A>
auto logpdf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(
      where(z < 0, detail::minus_infinity,
            detail::log_of_power<R>(a - 1, z) - z - special::gammaln(a) - detail::log_scale<R>(options)));
}

// The density.
template <class X, class A>
requires Function<X, A>
auto pdf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, a_, options))(exp(logpdf(x_, a_, options)));
}

// The distribution function: the probability of at most x.
template <class X, class A>
requires Function<X, A>
auto cdf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::gammainc(a, maximum(z, 0)));
}

// The logarithm of the distribution function.
template <class X, class A>
requires Function<X, A>
auto logcdf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return detail::log_gammainc<R>(a, maximum(z, 0));
}

// The survival function: the probability of more than x.
template <class X, class A>
requires Function<X, A>
auto sf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return Array<R>(special::gammaincc(a, maximum(z, 0)));
}

// The logarithm of the probability of more than x.
template <class X, class A>
requires Function<X, A>
auto logsf(const X& x_, const A& a_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, A>;
  const Array<R> a = detail::stats_operand<R>(a_);
  const Array<R> z = detail::standardised<R>(x_, options);
  return detail::log_gammaincc<R>(a, maximum(z, 0));
}

}  // namespace stats::gamma
NAX_END
