// The part of nax::compiled for Fourier transforms.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/fft.hpp"

NAX_BEGIN
namespace cpu {
template void fft<float>(const FftLines&, const void*, void*);
template void fft<double>(const FftLines&, const void*, void*);
}  // namespace cpu
NAX_END
