#pragma once

#include "nax/backend/cpu/accumulate.hpp"

NAX_BEGIN
namespace cpu {

NAX_ENGINE const Reducer* sum_reducer(DType lane) {
  switch (lane) {
    case DType::float32:
      return &reducer<reduce_op::Sum<float>, float>;
    case DType::float64:
      return &reducer<reduce_op::Sum<double>, double>;
    case DType::complex64:
      return &reducer<reduce_op::Sum<std::complex<float>>, std::complex<float>>;
    case DType::complex128:
      return &reducer<reduce_op::Sum<std::complex<double>>, std::complex<double>>;
    case DType::boolean:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  return nullptr;
}

}  // namespace cpu
NAX_END
