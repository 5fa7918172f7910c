#pragma once

#include <optional>

#include "nax/core/array.hpp"
#include "nax/core/axis.hpp"

// The keyword arguments that reductions share, in NumPy's order. No axis means all axes.
NAX_BEGIN

// max, min. `initial` joins the result; `where` (broadcast against the array) says which elements
// count.
template <class T>
struct ReduceOptions {
  Axis axis = {};
  bool keepdims = false;
  std::optional<T> initial = {};
  std::optional<Array<bool>> where = {};
};

// sum, prod and their kin. `dtype` names the result's type, which is settled when compiling: it must be the
// one that the call has. sum<double>(x) sums in another.
template <class T>
struct SumOptions {
  Axis axis = {};
  std::optional<DType> dtype = {};
  bool keepdims = false;
  std::optional<T> initial = {};
  std::optional<Array<bool>> where = {};
};

// mean, any, all, nanmean.
struct MeanOptions {
  Axis axis = {};
  bool keepdims = false;
  std::optional<Array<bool>> where = {};
};

// var, std. The divisor is the number of elements less ddof (by its other name `correction`).
struct VarOptions {
  Axis axis = {};
  double ddof = 0;
  bool keepdims = false;
  std::optional<Array<bool>> where = {};
  std::optional<double> correction = {};
};

// argmax, argmin, ptp, count_nonzero, median.
struct AxisOptions {
  Axis axis = {};
  bool keepdims = false;
};

namespace detail {

// Which of ndim visible axes are meant. Throws IndexError for one out of range, ValueError for one named
// twice.
NAX_ENGINE AxisMarks marked_axes(const char* function, const Axis& axis, int ndim);

// Throws TypeError where a .dtype is not the type that the call has.
NAX_ENGINE void check_result_dtype(const char* function, const std::optional<DType>& dtype, DType result);

// How many elements go into one.
NAX_ENGINE std::int64_t marked_count(const AxisMarks& visible, const Frame& frame);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
