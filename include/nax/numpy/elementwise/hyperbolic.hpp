#pragma once

#include "nax/numpy/elementwise/power.hpp"
#include "nax/rules/hyperbolic.hpp"

// NumPy's hyperbolic functions, and the array API's names for them. Integers become float.
NAX_BEGIN

// clang-format off
// The hyperbolic sine of each element.
template <class X> requires Function<X> auto sinh(X&& x) { return detail::apply<rules::sinh>(std::forward<X>(x)); }
// The hyperbolic cosine of each element.
template <class X> requires Function<X> auto cosh(X&& x) { return detail::apply<rules::cosh>(std::forward<X>(x)); }
// The hyperbolic tangent of each element.
template <class X> requires Function<X> auto tanh(X&& x) { return detail::apply<rules::tanh>(std::forward<X>(x)); }
// The number whose hyperbolic sine is x.
template <class X> requires Function<X> auto arcsinh(X&& x) { return detail::apply<rules::arcsinh>(std::forward<X>(x)); }
// The number at least 0 whose hyperbolic cosine is x; NaN below 1.
template <class X> requires Function<X> auto arccosh(X&& x) { return detail::apply<rules::arccosh>(std::forward<X>(x)); }
// The number whose hyperbolic tangent is x; NaN outside of [-1, 1].
template <class X> requires Function<X> auto arctanh(X&& x) { return detail::apply<rules::arctanh>(std::forward<X>(x)); }
// The number whose hyperbolic sine is x. As arcsinh.
template <class X> requires Function<X> auto asinh(X&& x) { return detail::apply<rules::arcsinh>(std::forward<X>(x)); }
// The number at least 0 whose hyperbolic cosine is x. As arccosh.
template <class X> requires Function<X> auto acosh(X&& x) { return detail::apply<rules::arccosh>(std::forward<X>(x)); }
// The number whose hyperbolic tangent is x. As arctanh.
template <class X> requires Function<X> auto atanh(X&& x) { return detail::apply<rules::arctanh>(std::forward<X>(x)); }
// clang-format on

NAX_END
