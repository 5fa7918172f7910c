#pragma once

#include "nax/expr/expressions/apply.hpp"
#include "nax/rules/arithmetic.hpp"
#include "nax/rules/bitwise.hpp"
#include "nax/rules/comparison.hpp"

// The operators of arrays, expressions and recorded values.
NAX_BEGIN

// clang-format off
template <class X, class Y> requires AnyArray<X, Y> auto operator+(X&& x, Y&& y) { return detail::apply<rules::add>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator-(X&& x, Y&& y) { return detail::apply<rules::subtract>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator*(X&& x, Y&& y) { return detail::apply<rules::multiply>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator/(X&& x, Y&& y) { return detail::apply<rules::divide>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator==(X&& x, Y&& y) { return detail::apply<rules::equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator!=(X&& x, Y&& y) { return detail::apply<rules::not_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<(X&& x, Y&& y) { return detail::apply<rules::less>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<=(X&& x, Y&& y) { return detail::apply<rules::less_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>(X&& x, Y&& y) { return detail::apply<rules::greater>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>=(X&& x, Y&& y) { return detail::apply<rules::greater_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator%(X&& x, Y&& y) { return detail::apply<rules::mod>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator&(X&& x, Y&& y) { return detail::apply<rules::bitwise_and>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator|(X&& x, Y&& y) { return detail::apply<rules::bitwise_or>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator^(X&& x, Y&& y) { return detail::apply<rules::bitwise_xor>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<<(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>>(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X> requires AnyArray<X> auto operator-(X&& x) { return detail::apply<rules::negative>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> auto operator~(X&& x) { return detail::apply<rules::invert>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> auto operator!(X&& x) { return detail::apply<rules::logical_not>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> std::remove_cvref_t<X> operator+(X&& x) { return std::forward<X>(x); }
// Whether an element is neither infinite nor NaN.
template <class X> requires Function<X> auto isfinite(X&& x) { return detail::apply<rules::isfinite>(std::forward<X>(x)); }
// clang-format on

// Overloads for recorded values that rules call; others are in numpy/ and special/.
template <class M, class T>
Recorded<T> select(const Recorded<M>& mask, const Recorded<T>& x, const Recorded<T>& y) {
  return detail::apply_selection<rules::where>(mask, x, y);
}
NAX_END
