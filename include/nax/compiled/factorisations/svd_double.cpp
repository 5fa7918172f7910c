// The part of nax::compiled for the singular value decomposition of matrices of double, and of complex
// numbers of them.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_svd_double() { lists::singular_values<double>(Providing()); }
}  // namespace cpu
NAX_END
