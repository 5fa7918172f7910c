#pragma once

#include "nax/expr/expressions/operators.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/rounding.hpp"

// NumPy's arithmetic operations. Operands broadcast; types promote as in JAX.
NAX_BEGIN

// clang-format off
// x + y, element by element.
template <class X, class Y> requires Function<X, Y> auto add(X&& x, Y&& y) { return detail::apply<rules::add>(std::forward<X>(x), std::forward<Y>(y)); }
// x - y, element by element.
template <class X, class Y> requires Function<X, Y> auto subtract(X&& x, Y&& y) { return detail::apply<rules::subtract>(std::forward<X>(x), std::forward<Y>(y)); }
// x * y, element by element.
template <class X, class Y> requires Function<X, Y> auto multiply(X&& x, Y&& y) { return detail::apply<rules::multiply>(std::forward<X>(x), std::forward<Y>(y)); }
// x / y, element by element; integers become float.
template <class X, class Y> requires Function<X, Y> auto divide(X&& x, Y&& y) { return detail::apply<rules::divide>(std::forward<X>(x), std::forward<Y>(y)); }
// x / y, element by element; integers become float. As divide.
template <class X, class Y> requires Function<X, Y> auto true_divide(X&& x, Y&& y) { return detail::apply<rules::divide>(std::forward<X>(x), std::forward<Y>(y)); }

// The quotient toward minus infinity and its remainder, with the sign of the divisor. Integers: 0 where the divisor is 0.
template <class X, class Y> requires Function<X, Y> auto floor_divide(X&& x, Y&& y) { return detail::apply<rules::floor_divide>(std::forward<X>(x), std::forward<Y>(y)); }
// The remainder of x / y with the sign of y. As remainder.
template <class X, class Y> requires Function<X, Y> auto mod(X&& x, Y&& y) { return detail::apply<rules::mod>(std::forward<X>(x), std::forward<Y>(y)); }
// The remainder of x / y with the sign of y.
template <class X, class Y> requires Function<X, Y> auto remainder(X&& x, Y&& y) { return detail::apply<rules::mod>(std::forward<X>(x), std::forward<Y>(y)); }
// The remainder of the quotient toward 0, with the sign of the dividend.
template <class X, class Y> requires Function<X, Y> auto fmod(X&& x, Y&& y) { return detail::apply<rules::fmod>(std::forward<X>(x), std::forward<Y>(y)); }

// -x, element by element.
template <class X> requires Function<X> auto negative(X&& x) { return detail::apply<rules::negative>(std::forward<X>(x)); }
// x, as an expression.
template <class X> requires Numeric<X> std::remove_cvref_t<X> positive(X&& x) { return std::forward<X>(x); }
// The size of each element: |x|; a real number for complex x. As abs.
template <class X> requires Function<X> auto absolute(X&& x) { return detail::apply<rules::absolute>(std::forward<X>(x)); }
// The size of each element: |x|; a real number for complex x.
template <class X> requires Function<X> auto abs(X&& x) { return detail::apply<rules::absolute>(std::forward<X>(x)); }
// The size of each element: |x|, of real types.
template <class X> requires Function<X> auto fabs(X&& x) { return detail::apply<rules::fabs>(std::forward<X>(x)); }
// -1, 0 or 1 by the sign of each element; x / |x| of complex ones.
template <class X> requires Function<X> auto sign(X&& x) { return detail::apply<rules::sign>(std::forward<X>(x)); }
// x * x, element by element.
template <class X> requires Function<X> auto square(X&& x) { return detail::apply<rules::square>(std::forward<X>(x)); }
// 1 / x, element by element.
template <class X> requires Function<X> auto reciprocal(X&& x) { return detail::apply<rules::reciprocal>(std::forward<X>(x)); }
// clang-format on

NAX_END
