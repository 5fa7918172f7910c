#pragma once

#include "nax/expr/expressions/operators.hpp"

// NumPy's operations on bits: of integers, and of truth values. Shifts by the width or more leave 0, or the
// sign; so do negative counts.
NAX_BEGIN

// clang-format off
// The bits that both integers (or booleans) have.
template <class X, class Y> requires Function<X, Y> auto bitwise_and(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_and>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits that one of the integers (or booleans) has.
template <class X, class Y> requires Function<X, Y> auto bitwise_or(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_or>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits in which two integers (or booleans) differ.
template <class X, class Y> requires Function<X, Y> auto bitwise_xor(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_xor>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits of x moved up by y places.
template <class X, class Y> requires Function<X, Y> auto left_shift(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits of x moved down by y places, the sign repeated.
template <class X, class Y> requires Function<X, Y> auto right_shift(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits of x moved up by y places. As left_shift.
template <class X, class Y> requires Function<X, Y> auto bitwise_left_shift(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
// The bits of x moved down by y places, the sign repeated. As right_shift.
template <class X, class Y> requires Function<X, Y> auto bitwise_right_shift(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
// Every bit of integers turned; booleans negated.
template <class X> requires Function<X> auto invert(X&& x) { return detail::apply_bits<rules::invert>(std::forward<X>(x)); }
// Every bit of integers (or booleans) turned. As invert.
template <class X> requires Function<X> auto bitwise_not(X&& x) { return detail::apply_bits<rules::invert>(std::forward<X>(x)); }
// Every bit of integers (or booleans) turned. As invert.
template <class X> requires Function<X> auto bitwise_invert(X&& x) { return detail::apply_bits<rules::invert>(std::forward<X>(x)); }
// clang-format on

NAX_END
