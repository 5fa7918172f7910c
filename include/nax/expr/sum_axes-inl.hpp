#pragma once

#include "nax/expr/sum_axes.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame reduced_frame(const Frame& frame, const AxisMarks& reduced, bool keep) {
  Frame out;
  for (std::size_t axis = 0; axis < frame.shape.size(); ++axis) {
    const bool hidden = axis < frame.levels.size();
    if (!reduced[axis]) {
      if (hidden) out.levels.push_back(frame.levels[axis]);
      out.shape.push_back(frame.shape[axis]);
    } else if (keep && !hidden) {
      out.shape.push_back(1);
    }
  }
  return out;
}

NAX_ENGINE Dims reduced_strides(const Frame& frame, const AxisMarks& reduced) {
  Dims strides(frame.shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t axis = frame.shape.size(); axis-- > 0;) {
    if (reduced[axis]) continue;
    strides[axis] = stride;
    stride *= frame.shape[axis];
  }
  return strides;
}

NAX_ENGINE void reduce_on_device(loops::ReduceKind kind, const ArrayBase& x, const Frame& frame,
                                 const AxisMarks& reduced, const ArrayBase& result) {
  Dims marks(frame.shape.size(), 0);
  for (std::size_t axis = 0; axis < marks.size(); ++axis) marks[axis] = reduced[axis];
  backend::accelerator_operations(result.device())
      .reduce(result.device(), kind, frame.shape, marks, plain_operand(x, strides_over(layout_of(x), frame)),
              plain_operand(result, reduced_strides(frame, reduced)));
}

}  // namespace detail
NAX_END
