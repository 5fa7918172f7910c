#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// The Poisson distribution of mean mu, moved by loc.
NAX_BEGIN
namespace stats::poisson {

// The logarithm of the probability of k.
template <class K, class MU>
requires Function<K, MU>
auto logpmf(const K& k_, const MU& mu_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, MU>;
  const Array<R> mu = detail::stats_operand<R>(mu_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  return Array<R>(where((k < 0) | (k > floor(k)), detail::minus_infinity,
                        special::xlogy(k, mu) - special::gammaln(k + 1) - mu));
}

// The probability of k.
template <class K, class MU>
requires Function<K, MU>
auto pmf(const K& k_, const MU& mu_, const LocOptions& options = {}) {
  return decltype(logpmf(k_, mu_, options))(exp(logpmf(k_, mu_, options)));
}

// The probability of at most k.
template <class K, class MU>
requires Function<K, MU>
auto cdf(const K& k_, const MU& mu_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, MU>;
  const Array<R> mu = detail::stats_operand<R>(mu_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  return Array<R>(where(k < 0, 0, special::gammaincc(floor(maximum(k, 0)) + 1, mu)));
}

}  // namespace stats::poisson
NAX_END
