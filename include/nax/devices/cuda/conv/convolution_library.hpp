#pragma once

#include "nax/core/device.hpp"
#include "nax/core/dtype.hpp"
#include "nax/loops/convolution.hpp"

// A library that computes convolutions in place of nax's own kernels: cuDNN, in programs that link
// nax::cudnn.
NAX_BEGIN
namespace cuda {

// As Operations::convolve, of floating types. Returns false, and writes nothing, where it has no kernel.
using ConvolutionLibrary = bool(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                                DType dtype, const char* a, const char* b, char* to, bool accumulate);

// Set before main by the source of nax::cudnn.
inline constinit ConvolutionLibrary* convolution_library = nullptr;

}  // namespace cuda
NAX_END
