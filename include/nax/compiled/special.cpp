// The part of the engine for special functions: what files that call it only declare
// (rules/scalar_lanes.hpp).
#define NAX_COMPILED_LIBRARY
#include "nax/rules/scalar/algorithms.hpp"

NAX_BEGIN
namespace rules::scalar {
#define NAX_SCALAR_1(name) template double name<double>(double);
#define NAX_SCALAR_2(name) template double name<double>(double, double);
#define NAX_SCALAR_3(name) template double name<double>(double, double, double);
NAX_SCALAR_3(gammainc)
NAX_SCALAR_3(gammaincc)
NAX_SCALAR_3(gamma_density)
NAX_SCALAR_3(beta_density)
NAX_SCALAR_3(zeta)
NAX_SCALAR_3(hyp1f1)
NAX_SCALAR_3(betainc)
NAX_SCALAR_2(poch)
NAX_SCALAR_2(betaln)
NAX_SCALAR_2(beta)
NAX_SCALAR_2(comb)
NAX_SCALAR_2(owens_t)
NAX_SCALAR_2(bessel_j)
NAX_SCALAR_2(expn)
NAX_SCALAR_2(exponential_moment)
NAX_SCALAR_1(gammasgn)
NAX_SCALAR_1(erfcx)
NAX_SCALAR_1(dawsn)
NAX_SCALAR_1(log_ndtr)
NAX_SCALAR_1(ndtri)
NAX_SCALAR_1(i0)
NAX_SCALAR_1(i0e)
NAX_SCALAR_1(i1)
NAX_SCALAR_1(i1e)
NAX_SCALAR_1(expi)
NAX_SCALAR_1(sine_integral)
NAX_SCALAR_1(cosine_integral)
NAX_SCALAR_1(spence)
NAX_SCALAR_1(fresnel_sine)
NAX_SCALAR_1(fresnel_cosine)
NAX_SCALAR_2(fresnel_wave)
NAX_SCALAR_3(spherical_legendre)
template numbers::Complex<double> wofz<double>(double, double);
template double hyp2f1<double>(double, double, double, double);
}  // namespace rules::scalar
NAX_END
