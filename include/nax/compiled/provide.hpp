#pragma once

#include "nax/core/abi.hpp"

// The parts of provide_library_kernels() that sources of their own hold.
NAX_BEGIN
namespace cpu {

void provide_fft();
void provide_convolutions();

}  // namespace cpu
NAX_END
