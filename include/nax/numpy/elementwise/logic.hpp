#pragma once

#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/floating.hpp"

// NumPy's comparisons, truth values and tests; where.
NAX_BEGIN

// clang-format off
// Whether x == y, element by element.
template <class X, class Y> requires Function<X, Y> auto equal(X&& x, Y&& y) { return detail::apply<rules::equal>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether x != y, element by element.
template <class X, class Y> requires Function<X, Y> auto not_equal(X&& x, Y&& y) { return detail::apply<rules::not_equal>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether x < y, element by element.
template <class X, class Y> requires Function<X, Y> auto less(X&& x, Y&& y) { return detail::apply<rules::less>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether x <= y, element by element.
template <class X, class Y> requires Function<X, Y> auto less_equal(X&& x, Y&& y) { return detail::apply<rules::less_equal>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether x > y, element by element.
template <class X, class Y> requires Function<X, Y> auto greater(X&& x, Y&& y) { return detail::apply<rules::greater>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether x >= y, element by element.
template <class X, class Y> requires Function<X, Y> auto greater_equal(X&& x, Y&& y) { return detail::apply<rules::greater_equal>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether both elements are not 0.
template <class X, class Y> requires Function<X, Y> auto logical_and(X&& x, Y&& y) { return detail::apply<rules::logical_and>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether one of the elements is not 0.
template <class X, class Y> requires Function<X, Y> auto logical_or(X&& x, Y&& y) { return detail::apply<rules::logical_or>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether exactly one of the elements is not 0.
template <class X, class Y> requires Function<X, Y> auto logical_xor(X&& x, Y&& y) { return detail::apply<rules::logical_xor>(std::forward<X>(x), std::forward<Y>(y)); }
// Whether an element is 0.
template <class X> requires Function<X> auto logical_not(X&& x) { return detail::apply<rules::logical_not>(std::forward<X>(x)); }

// Whether an element is NaN.
template <class X> requires Function<X> auto isnan(X&& x) { return detail::apply<rules::isnan>(std::forward<X>(x)); }
// Whether an element is infinite.
template <class X> requires Function<X> auto isinf(X&& x) { return detail::apply<rules::isinf>(std::forward<X>(x)); }
// Whether an element is minus infinity.
template <class X> requires Function<X> auto isneginf(X&& x) { return detail::apply<rules::isneginf>(std::forward<X>(x)); }
// Whether an element is plus infinity.
template <class X> requires Function<X> auto isposinf(X&& x) { return detail::apply<rules::isposinf>(std::forward<X>(x)); }

// x where the condition holds, y elsewhere. The condition takes no part in promotion, and no derivative comes from the
// side that was not chosen.
template <class C, class X, class Y> requires Function<C, X, Y> auto where(C&& condition, X&& x, Y&& y) { return detail::apply_selection<rules::where>(std::forward<C>(condition), std::forward<X>(x), std::forward<Y>(y)); }
// clang-format on

NAX_END
