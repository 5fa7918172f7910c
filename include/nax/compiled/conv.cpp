// The part of the engine for convolutions.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/conv/conv_kernels.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_convolutions() { lists::convolutions(Providing()); }
}  // namespace cpu
NAX_END
