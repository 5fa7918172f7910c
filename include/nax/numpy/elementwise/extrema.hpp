#pragma once

#include "nax/core/none.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/extrema.hpp"

// The larger and the smaller of two.
NAX_BEGIN

// NaN where either operand is. The derivative is split evenly where both are equal.
// clang-format off
template <class X, class Y> requires Function<X, Y> auto maximum(X&& x, Y&& y) { return detail::apply<rules::maximum>(std::forward<X>(x), std::forward<Y>(y)); }
// The smaller of x and y; NaN where one is. A gradient is split between equal ones.
template <class X, class Y> requires Function<X, Y> auto minimum(X&& x, Y&& y) { return detail::apply<rules::minimum>(std::forward<X>(x), std::forward<Y>(y)); }
// The other operand where one is NaN.
template <class X, class Y> requires Function<X, Y> auto fmax(X&& x, Y&& y) { return detail::apply<rules::fmax>(std::forward<X>(x), std::forward<Y>(y)); }
// The smaller of x and y; the other one where one is NaN.
template <class X, class Y> requires Function<X, Y> auto fmin(X&& x, Y&& y) { return detail::apply<rules::fmin>(std::forward<X>(x), std::forward<Y>(y)); }

// minimum(maximum(x, low), high); none for a bound that is not wanted.
template <class X, class Low, class High> requires Function<X, Low, High> auto clip(X&& x, Low&& low, High&& high) { return detail::apply<rules::clip>(std::forward<X>(x), std::forward<Low>(low), std::forward<High>(high)); }
template <class X, class High> requires Function<X, High> auto clip(X&& x, None, High&& high) { return detail::apply<rules::minimum>(std::forward<X>(x), std::forward<High>(high)); }
template <class X, class Low> requires Function<X, Low> auto clip(X&& x, Low&& low, None) { return detail::apply<rules::maximum>(std::forward<X>(x), std::forward<Low>(low)); }
// clang-format on

NAX_END
