#pragma once

#include <complex>

#include "nax/backend/cpu/factor/factor_kernels.hpp"

// The host's factorisations are those of nax::compiled: Eigen's take a minute to compile for each element
// type.
NAX_BEGIN
namespace cpu {

#define NAX_FACTOR(kind, type)                                                                     \
  extern template void FactorKernel<Factorisation::kind>::run<type>(const Factoring&, const void*, \
                                                                    void* const*);
#define NAX_FACTORS(kind)               \
  NAX_FACTOR(kind, float)               \
  NAX_FACTOR(kind, double)              \
  NAX_FACTOR(kind, std::complex<float>) \
  NAX_FACTOR(kind, std::complex<double>)
NAX_FACTORS(lu)
NAX_FACTORS(cholesky)
NAX_FACTORS(qr)
NAX_FACTORS(svd)
NAX_FACTORS(eigh)
NAX_FACTORS(eig)
#undef NAX_FACTORS
#undef NAX_FACTOR

}  // namespace cpu
NAX_END
