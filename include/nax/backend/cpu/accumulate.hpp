#pragma once

#include "nax/backend/cpu/reducers.hpp"

namespace nax::inline NAX_ABI::cpu {

// to[i * stride] += from[i]; a stride of 0 adds the sum of the run.
template <class T>
void accumulate_run(const void* from, void* to, std::int64_t stride, std::int64_t n) {
  detail::combine_run<reduce_op::Sum<T>, T>(from, to, stride, n);
}

// For the types in which gradients are accumulated; half types accumulate in float.
NAX_ENGINE const Reducer* sum_reducer(DType lane);

}  // namespace nax::inline NAX_ABI::cpu

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::cpu {

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

}  // namespace nax::inline NAX_ABI::cpu
#endif
