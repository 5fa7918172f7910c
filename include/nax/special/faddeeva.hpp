#pragma once

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/special/fixed.hpp"

// Error functions of complex numbers.
NAX_BEGIN
namespace special {

template <class T>
struct FresnelIntegrals {
  Array<T> S, C;
};
// The integrals over [0, x] of sin(pi t^2 / 2) and cos(pi t^2 / 2), for real x.
template <class X>
requires Function<X>
auto fresnel(const X& x_) {
  using R = inexact_t<detail::operand_type_t<X>>;
  const Array<R> x = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(x_), R(0)));
  return FresnelIntegrals<R>{detail::evaluate(detail::make_expr<rules::fresnel_sine>(x)),
                             detail::evaluate(detail::make_expr<rules::fresnel_cosine>(x))};
}

// The Faddeeva function exp(-z^2) erfc(-i z): complex, of real numbers too. Its real part is the Voigt
// profile's.
template <class Z>
requires Function<Z>
auto wofz(const Z& z_) {
  using C = complex_t<inexact_t<detail::operand_type_t<Z>>>;
  const Array<C> z = detail::as_array(z_).template astype<C>();
  return detail::evaluate(detail::make_expr<rules::wofz>(z));
}

}  // namespace special
NAX_END
