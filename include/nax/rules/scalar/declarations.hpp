#pragma once

#include "nax/rules/complex_number.hpp"
#include "nax/rules/special_math.hpp"

// Special functions of single numbers, in double: the algorithms are in the other files of this folder, which
// programs that have them in a library do not read. All give NaN where the function is not defined, and for
// NaN.
#if defined(__CUDACC__)
#define NAX_SCALAR constexpr  // for the GPU, too
#else
#define NAX_SCALAR
#endif

NAX_BEGIN
namespace rules::scalar {

// clang-format off
// The derivatives of order `order` in a of the regularised incomplete gamma functions P and Q, and of
// x^(a - 1) e^-x / Gamma(a); order 0 is the function. Orders up to 5.
template <class Double> NAX_SCALAR Double gammainc(Double order, Double a, Double x);
template <class Double> NAX_SCALAR Double gammaincc(Double order, Double a, Double x);
template <class Double> NAX_SCALAR Double gamma_density(Double order, Double a, Double x);
template <class Double> NAX_SCALAR Double gammasgn(Double x);
template <class Double> NAX_SCALAR Double poch(Double z, Double m);

template <class Double> NAX_SCALAR Double betaln(Double a, Double b);
template <class Double> NAX_SCALAR Double beta(Double a, Double b);
template <class Double> NAX_SCALAR Double betainc(Double a, Double b, Double x);
// x^(a - 1) (1 - x)^(b - 1) / B(a, b)
template <class Double> NAX_SCALAR Double beta_density(Double a, Double b, Double x);
template <class Double> NAX_SCALAR Double comb(Double n, Double k);

template <class Double> NAX_SCALAR Double erfcx(Double x);
template <class Double> NAX_SCALAR Double dawsn(Double x);
template <class Double> NAX_SCALAR Double log_ndtr(Double x);
template <class Double> NAX_SCALAR Double ndtri(Double p);
template <class Double> NAX_SCALAR Double owens_t(Double h, Double a);

template <class Double> NAX_SCALAR Double i0(Double x);
template <class Double> NAX_SCALAR Double i0e(Double x);
template <class Double> NAX_SCALAR Double i1(Double x);
template <class Double> NAX_SCALAR Double i1e(Double x);
template <class Double> NAX_SCALAR Double bessel_j(Double v, Double x);  // v whole

template <class Double> NAX_SCALAR Double expn(Double n, Double x);  // n whole; also below 0
template <class Double> NAX_SCALAR Double expi(Double x);
template <class Double> NAX_SCALAR Double sine_integral(Double x);
template <class Double> NAX_SCALAR Double cosine_integral(Double x);
template <class Double> NAX_SCALAR Double spence(Double x);
template <class Double> NAX_SCALAR Double fresnel_sine(Double x);
template <class Double> NAX_SCALAR Double fresnel_cosine(Double x);
// cos(pi / 2 (x^2 + k)), k whole
template <class Double> NAX_SCALAR Double fresnel_wave(Double k, Double x);
// exp(-z^2) erfc(-i z) for z = x + i y
template <class Double> NAX_SCALAR numbers::Complex<Double> wofz(Double x, Double y);
// The spherical harmonic of degree n and order m, whole numbers, at colatitude theta and longitude 0.
template <class Double> NAX_SCALAR Double spherical_legendre(Double n, Double m, Double theta);
// The integral of t^n e^(u t) over [0, 1], n >= 0: the n-th derivative of (e^u - 1) / u.
template <class Double> NAX_SCALAR Double exponential_moment(Double n, Double u);

// The derivative of order `order` in s of the sum over k >= 0 of (q + k)^-s. Orders up to 5.
template <class Double> NAX_SCALAR Double zeta(Double order, Double s, Double q);

template <class Double> NAX_SCALAR Double hyp1f1(Double a, Double b, Double x);
template <class Double> NAX_SCALAR Double hyp2f1(Double a, Double b, Double c, Double x);
// clang-format on

}  // namespace rules::scalar
NAX_END
