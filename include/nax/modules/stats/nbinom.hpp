#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/special/special.hpp"

// The negative binomial distribution: k failures before the n-th success of probability p.
NAX_BEGIN
namespace stats::nbinom {

// The logarithm of the probability of k.
template <class K, class N, class P>
requires Function<K, N, P>
auto logpmf(const K& k_, const N& n_, const P& p_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, N, P>;
  const Array<R> n = detail::stats_operand<R>(n_);
  const Array<R> p = detail::stats_operand<R>(p_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  return Array<R>(where((k < 0) | (k > floor(k)), detail::minus_infinity,
                        special::gammaln(k + n) - special::gammaln(n) - special::gammaln(k + 1) +
                            special::xlogy(n, p) + special::xlog1py(k, -p)));
}

// The probability of k.
template <class K, class N, class P>
requires Function<K, N, P>
auto pmf(const K& k_, const N& n_, const P& p_, const LocOptions& options = {}) {
  return decltype(logpmf(k_, n_, p_, options))(exp(logpmf(k_, n_, p_, options)));
}

}  // namespace stats::nbinom
NAX_END
