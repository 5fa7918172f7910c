#pragma once

#include "nax/backend/cpu/maps/accumulate.hpp"

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
      return &reducer<reduce_op::Sum<bool>, bool>;
    case DType::int8:
      return &reducer<reduce_op::Sum<std::int8_t>, std::int8_t>;
    case DType::int16:
      return &reducer<reduce_op::Sum<std::int16_t>, std::int16_t>;
    case DType::int32:
      return &reducer<reduce_op::Sum<std::int32_t>, std::int32_t>;
    case DType::int64:
      return &reducer<reduce_op::Sum<std::int64_t>, std::int64_t>;
    case DType::uint8:
      return &reducer<reduce_op::Sum<std::uint8_t>, std::uint8_t>;
    case DType::uint16:
      return &reducer<reduce_op::Sum<std::uint16_t>, std::uint16_t>;
    case DType::uint32:
      return &reducer<reduce_op::Sum<std::uint32_t>, std::uint32_t>;
    case DType::uint64:
      return &reducer<reduce_op::Sum<std::uint64_t>, std::uint64_t>;
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  return nullptr;
}

}  // namespace cpu
NAX_END
