// The part of the engine for functions over ArrayBase that compute with numbers. They are expressions, so
// that each such library has its own.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/provide.hpp"
#include "nax/expr/evaluation/number_kernels.hpp"
#include "nax/numpy/products/contract.hpp"

NAX_BEGIN
namespace cpu {
void provide_numbers();
void provide_numbers() {
  const Providing holds;
  const auto numbers_of = [&]<class T>() {
    holds.operator()<nax::detail::ScaledKernel, T>();
    holds.operator()<nax::detail::DivideKernel, T>();
    holds.operator()<nax::detail::NegatedKernel, T>();
  };
  numbers_of.operator()<float>();
  numbers_of.operator()<double>();
  numbers_of.operator()<std::complex<float>>();
  numbers_of.operator()<std::complex<double>>();
  holds.operator()<nax::detail::ScaledKernel, half>();
  holds.operator()<nax::detail::ScaledKernel, bfloat16>();
}

}  // namespace cpu
NAX_END
