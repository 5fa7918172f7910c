#pragma once

#include "nax/numpy/reductions/argmax.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase argument_of(const char* function, const ArrayBase& x, const AxisOptions& options,
                                 bool largest) {
  check_operand(function, x);
  if (options.axis.given() && options.axis.list().size() != 1)
    raise<ValueError>({function, ": axis must be one axis"});
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  const Frame frame = layout_of(x);
  const std::int64_t n = marked_count(marks, frame);
  if (n == 0) raise<ValueError>({function, ": attempt to get ", function, " of an empty sequence"});
  ArrayBase result = allocate(DType::int32, reduced_frame(frame, over_frame(marks, frame), options.keepdims),
                              device_for(function, x));
  const std::int64_t size = layout_of(result).size();
  if (size == 0) return result;
  const loops::Lines lines = options.axis.given()
                                 ? lines_of(frame, normalize_axis(function, options.axis.list()[0], x.ndim()))
                                 : loops::Lines{size, n, 1};
  const ArrayBase rows = contiguous(x, transforms_handled);
  backend::run(result.device(), ops::ArgReduce{largest, lines, x.dtype()},
               {device_data(rows), device_data(result)});
  return result;
}

}  // namespace detail
NAX_END
