#pragma once

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/loops/operand.hpp"
#include "nax/rules/complex_number.hpp"

// Loops over complex elements as loops over their parts, which are numbers: one axis more, of extent 2, on
// the inside. Products, which mix the parts, compute in the complex type of the rules.
NAX_BEGIN
namespace cuda {

constexpr bool is_complex(DType dtype) { return dtype_kind(dtype) == Kind::complex; }
// The type of the parts. A real dtype is its own.
constexpr DType part_type(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}
// The parts of an operand's elements. Precondition: its elements are complex.
inline loops::Operand parts_of(loops::Operand operand) {
  for (std::int64_t& stride : operand.strides) stride *= 2;
  operand.strides.push_back(1);
  operand.stored = operand.lane = part_type(operand.stored);
  return operand;
}

// f(type_identity of the type in which elements of a dtype are multiplied): a wide or a complex one.
template <class F>
decltype(auto) with_factors(DType dtype, const F& f) {
  if (dtype == DType::complex64) return f(std::type_identity<rules::numbers::Complex<float>>());
  if (dtype == DType::complex128) return f(std::type_identity<rules::numbers::Complex<double>>());
  return with_wide(dtype, f);
}

}  // namespace cuda
NAX_END
