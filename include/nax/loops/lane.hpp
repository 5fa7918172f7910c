#pragma once

#include "nax/core/dtype.hpp"

NAX_BEGIN
namespace detail {

// Half types are computed in float.
template <class T>
using lane_t = std::conditional_t<is_floating_v<T> && sizeof(T) == 2, float, T>;

constexpr DType lane_of(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

}  // namespace detail
NAX_END
