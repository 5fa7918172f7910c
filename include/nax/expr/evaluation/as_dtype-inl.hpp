#pragma once

#include "nax/expr/evaluation/as_dtype.hpp"

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
