#pragma once

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/special/fixed.hpp"

// Spherical harmonics.
NAX_BEGIN
namespace detail {

// The real type that angles make; numbers alone make float.
template <class... X>
struct AngleType {
  static auto pick() {
    using S = typename Strong<std::remove_cvref_t<X>...>::type;
    if constexpr (std::is_void_v<S>)
      return std::type_identity<float>{};
    else
      return std::type_identity<inexact_t<S>>{};
  }
  using type = typename decltype(pick())::type;
  static_assert(!is_complex_v<type>, "sph_harm_y: theta and phi must be real");
};
template <class R, class X>
Array<R> angle_operand(const X& x) {
  if constexpr (Scalar<X>)
    return Array<R>(static_cast<R>(x));
  else
    return as_array(x).template astype<R>();
}

}  // namespace detail

namespace special {

// The spherical harmonics of degree n and order m, whole numbers, at colatitude theta and longitude phi:
// complex, with the Condon-Shortley phase; 0 where |m| > n, NaN for n < 0. Operands broadcast. Differentiable
// in theta and phi, to any order. Throws ValueError where n or m is being differentiated.
template <class N, class M, class Theta, class Phi>
requires Function<N, M, Theta, Phi>
auto sph_harm_y(const N& n_, const M& m_, const Theta& theta, const Phi& phi) {
  using R = typename detail::AngleType<N, M, Theta, Phi>::type;
  using C = complex_t<R>;
  const Array<R> n = detail::angle_operand<R>(detail::fixed("sph_harm_y", "n", n_)),
                 m = detail::angle_operand<R>(detail::fixed("sph_harm_y", "m", m_));
  const Array<R> size =
      detail::evaluate(detail::make_expr<rules::spherical_legendre>(n, m, detail::angle_operand<R>(theta)));
  const Array<R> angle = m * detail::angle_operand<R>(phi);
  return Array<C>(size.template astype<C>() * exp(angle.template astype<C>() * C(0, 1)));
}

}  // namespace special
NAX_END
