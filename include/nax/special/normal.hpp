#pragma once

#include "nax/special/recorded.hpp"

// The error function's relatives, and what statistics takes: SciPy's names. Real types; integers become
// float.
NAX_BEGIN
namespace special {

// clang-format off
// e^(x^2) erfc(x).
template <class X> requires Function<X> auto erfcx(X&& x) { return detail::apply<rules::erfcx>(std::forward<X>(x)); }
// Dawson's integral: e^(-x^2) times the integral of e^(t^2) over [0, x].
template <class X> requires Function<X> auto dawsn(X&& x) { return detail::apply<rules::dawsn>(std::forward<X>(x)); }
// The logarithm of the standard normal's distribution function, also where that is tiny.
template <class X> requires Function<X> auto log_ndtr(X&& x) { return detail::apply<rules::log_ndtr>(std::forward<X>(x)); }
// The inverse of ndtr.
template <class X> requires Function<X> auto ndtri(X&& x) { return detail::apply<rules::ndtri>(std::forward<X>(x)); }
// Owen's T: 1 / 2pi times the integral of e^(-h^2 (1 + t^2) / 2) / (1 + t^2) over [0, a].
template <class H, class A> requires Function<H, A> auto owens_t(H&& h, A&& a) { return detail::apply<rules::owens_t>(std::forward<H>(h), std::forward<A>(a)); }
// x log(x / y) - x + y; y where x is 0, infinite where one is below 0 or y alone is 0.
template <class X, class Y> requires Function<X, Y> auto kl_div(X&& x, Y&& y) { return detail::apply<rules::kl_div>(std::forward<X>(x), std::forward<Y>(y)); }
// x log(x / y); 0 where x is 0, infinite where one is below 0 or y alone is 0.
template <class X, class Y> requires Function<X, Y> auto rel_entr(X&& x, Y&& y) { return detail::apply<rules::rel_entr>(std::forward<X>(x), std::forward<Y>(y)); }
// (x^lmbda - 1) / lmbda, log(x) at lmbda = 0.
template <class X, class L> requires Function<X, L> auto boxcox(X&& x, L&& lmbda) { return detail::apply<rules::boxcox>(std::forward<X>(x), std::forward<L>(lmbda)); }
// ((1 + x)^lmbda - 1) / lmbda, log(1 + x) at lmbda = 0
template <class X, class L> requires Function<X, L> auto boxcox1p(X&& x, L&& lmbda) { return detail::apply<rules::boxcox1p>(std::forward<X>(x), std::forward<L>(lmbda)); }
// clang-format on

}  // namespace special
NAX_END
