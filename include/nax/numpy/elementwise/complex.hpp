#pragma once

#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/complex.hpp"

// Parts of complex numbers. Real numbers are their own real part and conjugate.
NAX_BEGIN

// clang-format off
// The real part of each element; real elements stay.
template <class X> requires Function<X> auto real(X&& x) { return detail::apply<rules::real>(std::forward<X>(x)); }
// The imaginary part of each element; 0 for real elements.
template <class X> requires Function<X> auto imag(X&& x) { return detail::apply<rules::imag>(std::forward<X>(x)); }
// The complex conjugate of each element; real elements stay.
template <class X> requires Function<X> auto conj(X&& x) { return detail::apply<rules::conjugate>(std::forward<X>(x)); }
// The complex conjugate of each element. As conj.
template <class X> requires Function<X> auto conjugate(X&& x) { return detail::apply<rules::conjugate>(std::forward<X>(x)); }
// clang-format on

struct AngleOptions {
  bool deg = false;
};
// The angle in the plane, between -pi and pi, or in degrees.
template <class X>
requires Function<X>
auto angle(X&& x) { return detail::apply<rules::angle>(std::forward<X>(x)); }
template <class X>
requires Function<X>
auto angle(X&& x, AngleOptions options) {
  return nax::angle(std::forward<X>(x)) * (options.deg ? 57.295779513082320877 : 1.0);
}

NAX_END
