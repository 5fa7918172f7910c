#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/special/special.hpp"

// One with probability p, else zero.
NAX_BEGIN
namespace stats::bernoulli {

// The logarithm of the probability of k.
template <class K, class P>
requires Function<K, P>
auto logpmf(const K& k_, const P& p_, const LocOptions& options = {}) {
  using R = detail::stats_t<K, P>;
  const Array<R> p = detail::stats_operand<R>(p_);
  const Array<R> k = detail::shifted_by<R>(k_, options.loc);
  return Array<R>(where((k == 0) | (k == 1) | (k != k), special::xlogy(k, p) + special::xlog1py(1 - k, -p),
                        detail::minus_infinity));
}

// The probability of k.
template <class K, class P>
requires Function<K, P>
auto pmf(const K& k_, const P& p_, const LocOptions& options = {}) {
  return decltype(logpmf(k_, p_, options))(exp(logpmf(k_, p_, options)));
}

// The probability of at most k.
template <class K, class P>
requires Function<K, P>
auto cdf(const K& k_, const P& p_) {
  using R = detail::stats_t<K, P>;
  const Array<R> k = detail::stats_operand<R>(k_), p = detail::stats_operand<R>(p_);
  const Array<R> below = where(k < 0, 0, where(k < 1, 1 - p, 1 + 0 * p));
  return Array<R>(where((p < 0) | (p > 1) | (k != k), detail::no_number, below));
}

// The quantile: where the distribution function is q. NaN for a q outside of [0, 1].
template <class Q, class P>
requires Function<Q, P>
auto ppf(const Q& q_, const P& p_) {
  using R = detail::stats_t<Q, P>;
  const Array<R> q = detail::stats_operand<R>(q_), p = detail::stats_operand<R>(p_);
  const auto wrong = (q < 0) | (q > 1) | (p < 0) | (p > 1) | (q != q) | (p != p);
  return Array<R>(where(wrong, detail::no_number, where(q <= 1 - p, 0 * q, 1 + 0 * q)));
}

}  // namespace stats::bernoulli
NAX_END
