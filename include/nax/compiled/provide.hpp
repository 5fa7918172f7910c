#pragma once

#include "nax/core/abi.hpp"

// The parts of provide_library_kernels() that sources of their own hold.
NAX_BEGIN
namespace cpu {

void provide_fft();
void provide_convolutions();
void provide_samplers();
void provide_factorisations_float();
void provide_factorisations_double();
void provide_svd_float();
void provide_svd_double();

}  // namespace cpu
NAX_END
