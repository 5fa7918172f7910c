#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/special/special.hpp"

// The geometric distribution: the first success of probability p at trial k = 1, 2, ...
NAX_BEGIN
namespace stats::geom {

// The logarithm of the probability of k.
template <class K, class P>
requires Function<K, P>
auto logpmf(const K& k_, const P& p_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, P>;
  const Array<R> p = detail::stats_operand<R>(p_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  return Array<R>(
      where((k <= 0) | (k > floor(k)), detail::minus_infinity, special::xlog1py(k - 1, -p) + log(p)));
}

// The probability of k.
template <class K, class P>
requires Function<K, P>
auto pmf(const K& k_, const P& p_, const LocOptions& options = {}) {
  return decltype(logpmf(k_, p_, options))(exp(logpmf(k_, p_, options)));
}

}  // namespace stats::geom
NAX_END
