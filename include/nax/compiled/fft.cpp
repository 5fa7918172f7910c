// The part of nax::compiled for Fourier transforms.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/fft.hpp"

namespace nax::inline NAX_ABI::cpu {
template void fft<float>(const FftLines&, const void*, void*);
template void fft<double>(const FftLines&, const void*, void*);
}  // namespace nax::inline NAX_ABI::cpu
