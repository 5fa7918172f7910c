#pragma once

#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/rules/special.hpp"

// Special functions, with SciPy's names. Integers become float.
NAX_BEGIN

// clang-format off
// Overloads for recorded values, which derivatives call.
template <class T> Recorded<T> polygamma_at(const Recorded<T>& n, const Recorded<T>& x) { return detail::apply<rules::polygamma>(n, x); }
template <class T> Recorded<T> erfc(const Recorded<T>& x) { return detail::apply<rules::erfc>(x); }
template <class T> Recorded<T> expit(const Recorded<T>& x) { return detail::apply<rules::expit>(x); }

namespace special {

// The error function.
template <class X> requires Function<X> auto erf(X&& x) { return detail::apply<rules::erf>(std::forward<X>(x)); }
// 1 - erf(x), exact for large x.
template <class X> requires Function<X> auto erfc(X&& x) { return detail::apply<rules::erfc>(std::forward<X>(x)); }
// The number whose error function is x.
template <class X> requires Function<X> auto erfinv(X&& x) { return detail::apply<rules::erfinv>(std::forward<X>(x)); }
// The distribution function of the standard normal distribution.
template <class X> requires Function<X> auto ndtr(X&& x) { return detail::apply<rules::ndtr>(std::forward<X>(x)); }
// The gamma function.
template <class X> requires Function<X> auto gamma(X&& x) { return detail::apply<rules::gamma>(std::forward<X>(x)); }
// The logarithm of the size of the gamma function.
template <class X> requires Function<X> auto gammaln(X&& x) { return detail::apply<rules::lgamma>(std::forward<X>(x)); }
// The logarithm of the size of the gamma function. As gammaln.
template <class X> requires Function<X> auto lgamma(X&& x) { return detail::apply<rules::lgamma>(std::forward<X>(x)); }
// The derivative of the logarithm of the gamma function.
template <class X> requires Function<X> auto digamma(X&& x) { return detail::apply<rules::polygamma>(0, std::forward<X>(x)); }
// The derivative of the logarithm of the gamma function. As digamma.
template <class X> requires Function<X> auto psi(X&& x) { return detail::apply<rules::polygamma>(0, std::forward<X>(x)); }
// The n-th derivative of digamma. n is an order: it has no derivative.
template <class N, class X> requires Function<N, X> auto polygamma(N&& n, X&& x) { return detail::apply<rules::polygamma>(std::forward<N>(n), std::forward<X>(x)); }
// The sigmoid 1 / (1 + exp(-x)).
template <class X> requires Function<X> auto expit(X&& x) { return detail::apply<rules::expit>(std::forward<X>(x)); }
// The logarithm of the sigmoid, without overflow.
template <class X> requires Function<X> auto log_expit(X&& x) { return detail::apply<rules::log_expit>(std::forward<X>(x)); }
// log(x / (1 - x)), the inverse of expit.
template <class X> requires Function<X> auto logit(X&& x) { return detail::apply<rules::logit>(std::forward<X>(x)); }
// x log(y) and x log(1 + y), 0 where x is 0.
template <class X, class Y> requires Function<X, Y> auto xlogy(X&& x, Y&& y) { return detail::apply<rules::xlogy>(std::forward<X>(x), std::forward<Y>(y)); }
// x log(1 + y); 0 where x is 0.
template <class X, class Y> requires Function<X, Y> auto xlog1py(X&& x, Y&& y) { return detail::apply<rules::xlog1py>(std::forward<X>(x), std::forward<Y>(y)); }
// -x log(x)
template <class X> requires Function<X> auto entr(X&& x) { return detail::apply<rules::entr>(std::forward<X>(x)); }

}  // namespace special
// clang-format on
NAX_END
