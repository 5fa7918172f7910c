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
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype) {
  if (x.dtype() == dtype) return x;
  ArrayBase result = allocate(dtype, layout_of(x), x.device());
  if (on_accelerator(x)) {
    backend::run(x.device(), ops::Copy{layout_of(x).shape, plain_operand(x, layout_of(x).strides),
                                       plain_operand(result, layout_of(result).strides)});
  } else {
    const cpu::ConvertFn convert = cpu::converter(x.dtype(), dtype);
    if (!convert)
      raise<TypeError>({"as_dtype: no conversion of ", dtype_name(x.dtype()), " to ", dtype_name(dtype)});
    convert(raw_data(x), 1, raw_data(result), 1, layout_of(result).size());
  }
  return result;
}

}  // namespace detail
NAX_END
#endif
