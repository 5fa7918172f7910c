#pragma once

#include "nax/numpy/reductions/cumulative.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase linear_scan_values(const ArrayBase& a, const ArrayBase& b, int axis, bool reverse) {
  const Frame frame = broadcast("cumprod", layout_of(a), layout_of(b));
  const ArrayBase factor = copy_over(a, frame), term = copy_over(b, frame);
  ArrayBase result = allocate(a.dtype(), frame, device_for("cumprod", factor, term));
  backend::run(result.device(), ops::LinearScan{lines_of(frame, axis), reverse, a.dtype()},
               {device_data(factor), device_data(term), device_data(result)});
  return result;
}

NAX_ENGINE ArrayBase running(const ArrayBase& x, int axis, bool product, bool reverse, DType lane,
                             DType result) {
  const ArrayBase from = contiguous(x, transforms_handled);
  ArrayBase sums = allocate(lane, layout_of(from), device_for("cumsum", from));
  backend::run(sums.device(),
               ops::Scan{product, lines_of(layout_of(from), axis), reverse, from.dtype(), lane},
               {device_data(from), device_data(sums)});
  return as_dtype(std::move(sums), result);
}

NAX_ENGINE loops::Lines lines_of(const Frame& frame, int axis) {
  loops::Lines lines{1, frame.visible(axis), 1};
  const int at = frame.hidden() + axis;
  for (int i = 0; i < static_cast<int>(frame.shape.size()); ++i)
    if (i != at) (i < at ? lines.outer : lines.inner) *= frame.shape[i];
  return lines;
}

NAX_ENGINE ArrayBase part_of_axis(const ArrayBase& x, int axis, std::int64_t first, std::int64_t n) {
  Layout layout = layout_of(x);
  const std::size_t at = static_cast<std::size_t>(layout.hidden() + axis);
  layout.shape[at] = n;
  const std::int64_t offset = n > 0 ? first * layout.strides[at] : 0;
  return sub_array(x, std::move(layout), offset);
}

}  // namespace detail
NAX_END
