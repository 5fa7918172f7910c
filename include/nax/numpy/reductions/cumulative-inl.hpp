#pragma once

#include "nax/numpy/reductions/cumulative.hpp"

NAX_BEGIN
namespace detail {

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
