#pragma once

#include "nax/expr/differentiation/primitive.hpp"
#include "nax/expr/evaluation/as_dtype.hpp"

// The recorded views and sums that derivatives are made of; see unbroadcast.hpp.
NAX_BEGIN
namespace detail {

// The axes left by a reduction over the marked ones.
NAX_ENGINE Frame reduced_frame(const Frame& frame, const AxisMarks& reduced, bool keep);

// Strides of a row-major result over the axes of what was reduced: 0 on the axes that went.
NAX_ENGINE Dims reduced_strides(const Frame& frame, const AxisMarks& reduced);

// Reduces an array to the accumulators `result`, row-major, over the axes that are not marked. A divisor
// other than 1 divides sums of floating elements, on GPUs only.
NAX_ENGINE void reduce_values(loops::ReduceKind kind, const ArrayBase& x, const Frame& frame,
                              const AxisMarks& reduced, const ArrayBase& result, double divisor = 1);

// Spreads a cotangent of a reduction back over the axes that went: a view of stride 0. `reduced` marks axes
// of `frame`.
NAX_ENGINE ArrayBase unreduce(const ArrayBase& g, const Frame& frame, const AxisMarks& reduced, bool keep);
template <class T>
Array<T> unreduce(const Array<T>& g, const Frame& frame, const AxisMarks& reduced, bool keep) {
  return typed<T>(unreduce(handle_of(g), frame, reduced, keep));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/sum_axes-inl.hpp"
#endif
