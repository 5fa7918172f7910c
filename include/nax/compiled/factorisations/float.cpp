// The part of the engine for Eigen's factorisations of matrices of float.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factor/determinant_kernels.hpp"
#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
template <>
void provide_factorisations<float>() {
  lists::factorisations<float>(Providing());
}
}  // namespace cpu
NAX_END
