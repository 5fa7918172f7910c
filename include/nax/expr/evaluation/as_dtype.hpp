#pragma once

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/operations.hpp"
#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

// The operand of an operation on a GPU.
inline loops::Operand plain_operand(const ArrayBase& a, Dims strides) {
  return {device_data(a), std::move(strides), a.dtype(), a.dtype()};
}

// The array in another dtype, row-major; x itself, as it lies, where it has that dtype. Not recorded. Throws
// TypeError where the host has no such conversion: it has those between element types and the types that
// kernels compute in.
NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase as_dtype(ArrayBase x, DType dtype) {
  if (x.dtype() == dtype) return x;
  ArrayBase result = allocate(dtype, layout_of(x), x.device());
  const bool on_host = !on_accelerator(x);
  const cpu::ConvertFn convert = on_host ? cpu::converter(x.dtype(), dtype) : nullptr;
  if (on_host && !convert)
    raise<TypeError>({"as_dtype: no conversion of ", dtype_name(x.dtype()), " to ", dtype_name(dtype)});
  if (on_host && layout_of(x).is_contiguous())
    convert(raw_data(x), 1, raw_data(result), 1, layout_of(result).size());
  else
    backend::run(x.device(), ops::Copy{layout_of(x).shape, plain_operand(x, layout_of(x).strides),
                                       plain_operand(result, layout_of(result).strides)});
  return result;
}

}  // namespace detail
NAX_END
#endif
