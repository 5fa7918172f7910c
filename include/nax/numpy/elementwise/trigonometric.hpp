#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/rules/trigonometric.hpp"

// NumPy's trigonometric functions, in radians, and the array API's names for them. Integers become float.
NAX_BEGIN

// clang-format off
// The sine of each element, in radians.
template <class X> requires Function<X> auto sin(X&& x) { return detail::apply<rules::sin>(std::forward<X>(x)); }
// The cosine of each element, in radians.
template <class X> requires Function<X> auto cos(X&& x) { return detail::apply<rules::cos>(std::forward<X>(x)); }
// The tangent of each element, in radians.
template <class X> requires Function<X> auto tan(X&& x) { return detail::apply<rules::tan>(std::forward<X>(x)); }
// The angle in [-pi/2, pi/2] whose sine is x; NaN outside of [-1, 1].
template <class X> requires Function<X> auto arcsin(X&& x) { return detail::apply<rules::arcsin>(std::forward<X>(x)); }
// The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1].
template <class X> requires Function<X> auto arccos(X&& x) { return detail::apply<rules::arccos>(std::forward<X>(x)); }
// The angle in [-pi/2, pi/2] whose tangent is x.
template <class X> requires Function<X> auto arctan(X&& x) { return detail::apply<rules::arctan>(std::forward<X>(x)); }
// The angle in [-pi/2, pi/2] whose sine is x. As arcsin.
template <class X> requires Function<X> auto asin(X&& x) { return detail::apply<rules::arcsin>(std::forward<X>(x)); }
// The angle in [0, pi] whose cosine is x. As arccos.
template <class X> requires Function<X> auto acos(X&& x) { return detail::apply<rules::arccos>(std::forward<X>(x)); }
// The angle in [-pi/2, pi/2] whose tangent is x. As arctan.
template <class X> requires Function<X> auto atan(X&& x) { return detail::apply<rules::arctan>(std::forward<X>(x)); }

// The angle of the point (x, y), between -pi and pi; y comes first.
template <class Y, class X> requires Function<Y, X> auto arctan2(Y&& y, X&& x) { return detail::apply<rules::arctan2>(std::forward<Y>(y), std::forward<X>(x)); }
// The angle in [-pi, pi] of the point (x, y), y first. As arctan2.
template <class Y, class X> requires Function<Y, X> auto atan2(Y&& y, X&& x) { return detail::apply<rules::arctan2>(std::forward<Y>(y), std::forward<X>(x)); }
// sqrt(x^2 + y^2) without overflow on the way.
template <class X, class Y> requires Function<X, Y> auto hypot(X&& x, Y&& y) { return detail::apply<rules::hypot>(std::forward<X>(x), std::forward<Y>(y)); }

// Degrees as radians: x pi / 180.
template <class X> requires Function<X> auto deg2rad(X&& x) { return detail::apply<rules::deg2rad>(std::forward<X>(x)); }
// Radians as degrees: x 180 / pi.
template <class X> requires Function<X> auto rad2deg(X&& x) { return detail::apply<rules::rad2deg>(std::forward<X>(x)); }
// Degrees as radians. As deg2rad.
template <class X> requires Function<X> auto radians(X&& x) { return detail::apply<rules::deg2rad>(std::forward<X>(x)); }
// Radians as degrees. As rad2deg.
template <class X> requires Function<X> auto degrees(X&& x) { return detail::apply<rules::rad2deg>(std::forward<X>(x)); }
// sin(pi x) / (pi x)
template <class X> requires Function<X> auto sinc(X&& x) { return detail::apply<rules::sinc>(std::forward<X>(x)); }
// clang-format on

// Overloads for recorded values, which derivatives call.
template <class T>
Recorded<T> one_minus_square(const Recorded<T>& x) {
  return detail::apply<rules::one_minus_square>(x);
}

NAX_END
