// The part of nax::compiled for functions over ArrayBase that compute with numbers. They are expressions, so
// that each such library has its own.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/provide.hpp"
#include "nax/expr/evaluation/number_kernels.hpp"
#include "nax/numpy/products/contract.hpp"

NAX_BEGIN
namespace cpu {
namespace {

template <class T>
void provide_numbers() {
  provide<nax::detail::ScaledKernel, T>();
  provide<nax::detail::DivideKernel, T>();
  provide<nax::detail::NegatedKernel, T>();
}

void provide_all_numbers() {
  provide<nax::detail::ScaledKernel, half>();
  provide<nax::detail::ScaledKernel, bfloat16>();
  provide_numbers<float>();
  provide_numbers<double>();
  provide_numbers<std::complex<float>>();
  provide_numbers<std::complex<double>>();
}

}  // namespace

void provide_library_kernels() {
  provide_listed_kernels();
  provide_all_numbers();
}

}  // namespace cpu
NAX_END

// The library's expressions have no kernels for emulated GPUs. A program that links both does not link: this
// name is defined here and in nax_cuda_emulated.cpp.
#if !defined(NAX_CUDA_EMULATED)
extern "C" {
extern const char nax_compiled_has_no_kernels_for_emulated_gpus_link_nax_headers_instead;
const char nax_compiled_has_no_kernels_for_emulated_gpus_link_nax_headers_instead = 0;
}
#endif
