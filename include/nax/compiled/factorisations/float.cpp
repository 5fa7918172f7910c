// The part of nax::compiled for Eigen's factorisations of matrices of float, and of complex numbers of them.
// (Singular values have a source of their own: compiling them takes as long as all of these.)
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factor/determinant_kernels.hpp"
#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_factorisations_float() { lists::factorisations<float>(Providing()); }
}  // namespace cpu
NAX_END
