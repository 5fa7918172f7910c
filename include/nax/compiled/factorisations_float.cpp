// What nax::compiled holds of Eigen's factorisations of matrices of float, and of complex numbers of them.
// (Singular values have a source of their own: compiling them takes as long as all of these.)
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factorisations_kernels.hpp"

using nax::complex_t, nax::real_t, std::int64_t;

#define NAX_FACTORISATIONS(T)                                                                  \
  template void nax::cpu::qr<T>(const T*, int64_t, int64_t, bool, T*, T*);                     \
  template void nax::cpu::eigh<T>(const T*, int64_t, bool, real_t<T>*, T*);                    \
  template void nax::cpu::eig<T>(const T*, int64_t, complex_t<T>*, complex_t<T>*, real_t<T>*); \
  template void nax::cpu::schur<T>(const T*, int64_t, T*, T*);                                 \
  template void nax::cpu::solve_sylvester<T>(const T*, int64_t, const T*, int64_t, T*);
NAX_FACTORISATIONS(float)
NAX_FACTORISATIONS(complex_t<float>)
template void nax::cpu::sqrtm<complex_t<float>>(const complex_t<float>*, int64_t, complex_t<float>*);
