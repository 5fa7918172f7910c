// The part of nax::compiled for Fourier transforms.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/fft_kernels.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_fft() {
  provide<FftKernel, float>();
  provide<FftKernel, double>();
}
}  // namespace cpu
NAX_END
