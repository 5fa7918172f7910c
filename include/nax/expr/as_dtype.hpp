#pragma once

#include "nax/backend/cpu/convert.hpp"
#include "nax/backend/cuda/operations.hpp"
#include "nax/core/array_base.hpp"

namespace nax::inline NAX_ABI::detail {

// The operand of an operation on a GPU.
inline cpu::Operand plain_operand(const ArrayBase& a, Dims strides) {
  return {device_data(a), std::move(strides), a.dtype(), a.dtype()};
}

// A row-major array in another dtype. Not recorded.
NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype);

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype) {
  if (x.dtype() == dtype) return x;
  ArrayBase result = allocate(dtype, layout_of(x), x.device());
  if (on_accelerator(x))
    cuda::operations().copy(x.device(), layout_of(x).shape, plain_operand(x, layout_of(x).strides),
                            plain_operand(result, layout_of(result).strides));
  else
    cpu::converter(x.dtype(), dtype)(raw_data(x), 1, raw_data(result), 1, layout_of(result).size());
  return result;
}

}  // namespace nax::inline NAX_ABI::detail
#endif
