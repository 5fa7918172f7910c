#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// The binomial distribution: k of n, each with probability p.
NAX_BEGIN
namespace stats::binom {

// The logarithm of the probability of k.
template <class K, class N, class P>
requires Function<K, N, P>
auto logpmf(const K& k_, const N& n_, const P& p_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, N, P>;
  const Array<R> n = detail::stats_operand<R>(n_);
  const Array<R> p = detail::stats_operand<R>(p_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  const auto outside = (k < 0) | (k > n) | (k > floor(k));  // false for NaN
  const Array<R> j = where(outside, 0, k);
  return Array<R>(where(
      outside, detail::minus_infinity,
      special::xlogy(j, p) + special::xlog1py(n - j, -p) - log1p(n) - special::betaln(n - j + 1, j + 1)));
}

// The probability of k.
template <class K, class N, class P>
requires Function<K, N, P>
auto pmf(const K& k_, const N& n_, const P& p_, const LocOptions& options = {}) {
  return decltype(logpmf(k_, n_, p_, options))(exp(logpmf(k_, n_, p_, options)));
}

}  // namespace stats::binom
NAX_END
