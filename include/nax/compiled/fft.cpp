// The part of the engine for Fourier transforms.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/fft/fft_kernels.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_fft() { lists::transforms(Providing()); }
}  // namespace cpu
NAX_END
