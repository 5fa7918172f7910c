// The part of nax::compiled for the singular value decomposition of matrices of float, and of complex numbers
// of them.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factorisations_kernels.hpp"

using nax::complex_t, std::int64_t;

template void nax::cpu::svd<float>(const float*, int64_t, int64_t, bool, float*, float*, float*);
template void nax::cpu::svd<complex_t<float>>(const complex_t<float>*, int64_t, int64_t, bool,
                                              complex_t<float>*, float*, complex_t<float>*);
