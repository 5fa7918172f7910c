// The part of nax::compiled for products of matrices, and for what is made of them, found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/attention_kernels.hpp"
#include "nax/backend/cpu/product_kernel.hpp"

NAX_BEGIN
namespace cpu {

void provide_library_products() {
  provide<MatmulKernel, std::int8_t>();
  provide<MatmulKernel, std::int16_t>();
  provide<MatmulKernel, std::int32_t>();
  provide<MatmulKernel, std::int64_t>();
  provide<MatmulKernel, std::uint8_t>();
  provide<MatmulKernel, std::uint16_t>();
  provide<MatmulKernel, std::uint32_t>();
  provide<MatmulKernel, std::uint64_t>();
  provide<MatmulKernel, half>();
  provide<MatmulKernel, bfloat16>();
  provide<MatmulKernel, float>();
  provide<MatmulKernel, double>();
  provide<MatmulKernel, std::complex<float>>();
  provide<MatmulKernel, std::complex<double>>();
  provide<AttentionKernel, float>();
  provide<AttentionKernel, double>();
  provide<AttentionGradientKernel, float>();
  provide<AttentionGradientKernel, double>();
}

}  // namespace cpu
NAX_END
