#pragma once

#include "nax/numpy/elementwise/logic.hpp"
#include "nax/rules/exponential.hpp"

// NumPy's exponentials and logarithms. Integers become float.
NAX_BEGIN

// clang-format off
// e to the power of each element.
template <class X> requires Function<X> auto exp(X&& x) { return detail::apply<rules::exp>(std::forward<X>(x)); }
// 2 to the power of each element.
template <class X> requires Function<X> auto exp2(X&& x) { return detail::apply<rules::exp2>(std::forward<X>(x)); }
// exp(x) - 1, exact for small x.
template <class X> requires Function<X> auto expm1(X&& x) { return detail::apply<rules::expm1>(std::forward<X>(x)); }
// The natural logarithm of each element; NaN below 0.
template <class X> requires Function<X> auto log(X&& x) { return detail::apply<rules::log>(std::forward<X>(x)); }
// The logarithm to base 2.
template <class X> requires Function<X> auto log2(X&& x) { return detail::apply<rules::log2>(std::forward<X>(x)); }
// The logarithm to base 10.
template <class X> requires Function<X> auto log10(X&& x) { return detail::apply<rules::log10>(std::forward<X>(x)); }
// log(1 + x), exact for small x.
template <class X> requires Function<X> auto log1p(X&& x) { return detail::apply<rules::log1p>(std::forward<X>(x)); }
// log(exp(x) + exp(y)), without overflow.
template <class X, class Y> requires Function<X, Y> auto logaddexp(X&& x, Y&& y) { return detail::apply<rules::logaddexp>(std::forward<X>(x), std::forward<Y>(y)); }
// log2(2^x + 2^y), without overflow.
template <class X, class Y> requires Function<X, Y> auto logaddexp2(X&& x, Y&& y) { return detail::apply<rules::logaddexp2>(std::forward<X>(x), std::forward<Y>(y)); }
// clang-format on

NAX_END
