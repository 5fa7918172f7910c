#pragma once

// The stand-in of cuBLASLt (blas.cpp): products that nax asks for, as loops on the host. It checks what
// cuBLASLt documents of their descriptors.
namespace blas_stand_in {

extern bool refuses_epilogues;  // no kernel has an epilogue
extern bool has_kernels;        // heuristics name kernels that run
extern long products;           // that were launched

}  // namespace blas_stand_in
