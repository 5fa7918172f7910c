// The part of nax::compiled for the singular value decomposition of matrices of double, and of complex
// numbers of them.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factorisations_kernels.hpp"

using nax::complex_t, std::int64_t;

template void nax::cpu::svd<double>(const double*, int64_t, int64_t, bool, double*, double*, double*);
template void nax::cpu::svd<complex_t<double>>(const complex_t<double>*, int64_t, int64_t, bool,
                                               complex_t<double>*, double*, complex_t<double>*);
