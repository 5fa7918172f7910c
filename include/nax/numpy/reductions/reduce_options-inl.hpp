#pragma once

#include "nax/numpy/reductions/reduce_options.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE AxisMarks marked_axes(const char* function, const Axis& axis, int ndim) {
  AxisMarks marks(static_cast<std::size_t>(ndim), !axis.given());
  if (axis.given())
    for (std::int64_t a : normalize_axes(function, axis.list(), ndim))
      marks[static_cast<std::size_t>(a)] = true;
  return marks;
}

NAX_ENGINE void check_result_dtype(const char* function, const std::optional<DType>& dtype, DType result) {
  if (!dtype || *dtype == result) return;
  raise<TypeError>({function, ": dtype is ", dtype_name(*dtype), ", but the result's type is ",
                    dtype_name(result), " when compiled; ", function,
                    "<T>(x) computes in a type of your choice"});
}

NAX_ENGINE std::int64_t marked_count(const AxisMarks& visible, const Frame& frame) {
  std::int64_t n = 1;
  for (int axis = 0; axis < frame.ndim(); ++axis)
    if (visible[static_cast<std::size_t>(axis)]) n *= frame.visible(axis);
  return n;
}

}  // namespace detail
NAX_END
