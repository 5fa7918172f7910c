#pragma once

#include "nax/backend/cpu/convert.hpp"
#include "nax/backend/operations.hpp"
#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

// The operand of an operation on a GPU.
inline loops::Operand plain_operand(const ArrayBase& a, Dims strides) {
  return {device_data(a), std::move(strides), a.dtype(), a.dtype()};
}

// A row-major array in another dtype. Not recorded. Throws TypeError where the host has no such conversion:
// it has those between element types and the types that kernels compute in.
NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/as_dtype-inl.hpp"
#endif
