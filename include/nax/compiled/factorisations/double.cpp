// The part of the engine for Eigen's factorisations of matrices of double.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factor/companion_kernels.hpp"
#include "nax/backend/cpu/factor/determinant_kernels.hpp"
#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
template <>
void provide_factorisations<double>() {
  lists::factorisations<double>(Providing());
}
template void polynomial_roots<double>(const std::complex<double>* p, std::int64_t n,
                                       std::complex<double>* roots);
}  // namespace cpu
NAX_END
