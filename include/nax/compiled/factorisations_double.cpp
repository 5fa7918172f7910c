// The part of nax::compiled for Eigen's factorisations of matrices of double, and of complex numbers of them.
// (Singular values have a source of their own: compiling them takes as long as all of these.)
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factor/companion_kernels.hpp"
#include "nax/backend/cpu/factor/determinant_kernels.hpp"
#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

#define NAX_T double
#include "nax/compiled/factorisations.inc"
#undef NAX_T
#define NAX_T nax::complex_t<double>
#include "nax/compiled/factorisations.inc"
template void nax::cpu::sqrtm<NAX_T>(const NAX_T*, std::int64_t, NAX_T*);
template void nax::cpu::polynomial_roots<double>(const std::complex<double>*, std::int64_t,
                                                 std::complex<double>*);
#undef NAX_T

NAX_BEGIN
namespace cpu {
void provide_factorisations_double() { lists::factorisations<double>(Providing()); }
}  // namespace cpu
NAX_END
