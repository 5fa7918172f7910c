#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/rules/bessel.hpp"
#include "nax/rules/harmonics.hpp"
#include "nax/rules/hypergeometric.hpp"
#include "nax/rules/incomplete.hpp"
#include "nax/rules/integrals.hpp"
#include "nax/rules/normal.hpp"
#include "nax/special/special.hpp"

// Overloads for recorded values, which derivatives of special functions call.
NAX_BEGIN

// clang-format off
template <class T> Recorded<T> erfcx_at(const Recorded<T>& x) { return detail::apply<rules::erfcx>(x); }
template <class T> Recorded<T> i0_at(const Recorded<T>& x) { return detail::apply<rules::i0>(x); }
template <class T> Recorded<T> i0e_at(const Recorded<T>& x) { return detail::apply<rules::i0e>(x); }
template <class T> Recorded<T> i1_at(const Recorded<T>& x) { return detail::apply<rules::i1>(x); }
template <class T> Recorded<T> i1e_at(const Recorded<T>& x) { return detail::apply<rules::i1e>(x); }
template <class T> Recorded<T> bessel_j_at(const Recorded<T>& x, const Recorded<T>& y) { return detail::apply<rules::bessel_j>(x, y); }
template <class T> Recorded<T> expn_at(const Recorded<T>& x, const Recorded<T>& y) { return detail::apply<rules::expn>(x, y); }
template <class T> Recorded<T> exponential_moment_at(const Recorded<T>& x, const Recorded<T>& y) { return detail::apply<rules::exponential_moment>(x, y); }
template <class T> Recorded<T> fresnel_wave_at(const Recorded<T>& x, const Recorded<T>& y) { return detail::apply<rules::fresnel_wave>(x, y); }
template <class T> Recorded<T> spherical_legendre_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::spherical_legendre>(x, y, z); }
template <class T> Recorded<T> gammainc_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::gammainc>(x, y, z); }
template <class T> Recorded<T> gammaincc_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::gammaincc>(x, y, z); }
template <class T> Recorded<T> gamma_density_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::gamma_density>(x, y, z); }
template <class T> Recorded<T> beta_density_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::beta_density>(x, y, z); }
template <class T> Recorded<T> zeta_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::zeta>(x, y, z); }
template <class T> Recorded<T> hyp1f1_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z) { return detail::apply<rules::hyp1f1>(x, y, z); }
template <class T> Recorded<T> hyp2f1_at(const Recorded<T>& x, const Recorded<T>& y, const Recorded<T>& z, const Recorded<T>& w) { return detail::apply<rules::hyp2f1>(x, y, z, w); }
// clang-format on

NAX_END
