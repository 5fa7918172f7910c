#pragma once

#include "nax/expr/operators.hpp"

// NumPy's operations on bits: of integers, and of truth values. Shifts by the width or more leave 0, or the
// sign; so do negative counts.
namespace nax::inline NAX_ABI {

// clang-format off
template <class X, class Y> requires Function<X, Y> auto bitwise_and(X&& x, Y&& y) { return detail::apply<rules::bitwise_and>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto bitwise_or(X&& x, Y&& y) { return detail::apply<rules::bitwise_or>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto bitwise_xor(X&& x, Y&& y) { return detail::apply<rules::bitwise_xor>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto left_shift(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto right_shift(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto bitwise_left_shift(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires Function<X, Y> auto bitwise_right_shift(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X> requires Function<X> auto invert(X&& x) { return detail::apply<rules::invert>(std::forward<X>(x)); }
template <class X> requires Function<X> auto bitwise_not(X&& x) { return detail::apply<rules::invert>(std::forward<X>(x)); }
template <class X> requires Function<X> auto bitwise_invert(X&& x) { return detail::apply<rules::invert>(std::forward<X>(x)); }
// clang-format on

}  // namespace nax::inline NAX_ABI
