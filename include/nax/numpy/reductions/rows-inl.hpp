#pragma once

#include "nax/backend/operations.hpp"
#include "nax/numpy/reductions/rows.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool marks_suffix(const AxisMarks& marks) {
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i - 1] && !marks[i]) return false;
  return true;
}

NAX_ENGINE bool has_row_kernels(const ArrayBase& x, const AxisMarks& visible) {
  return on_accelerator(x) && !on_program(x.device()) && marks_suffix(visible) && layout_of(x).size() > 0 &&
         (x.dtype() == DType::float32 || x.dtype() == DType::float64);
}

NAX_ENGINE ArrayBase row_function(loops::RowFunction what, const ArrayBase& x, const AxisMarks& visible,
                                  const Frame& frame) {
  const ArrayBase from = contiguous(x, transforms_handled);
  const RowCount count(layout_of(from), visible);
  ArrayBase result = allocate(x.dtype(), frame, x.device());
  backend::accelerator_operations(x.device())
      .row_function(x.device(), what, x.dtype(), count.rows, count.length, device_data(from), nullptr,
                    device_data(result));
  return result;
}

NAX_ENGINE ArrayBase row_gradient(loops::RowFunction what, const ArrayBase& g, const ArrayBase& y,
                                  const AxisMarks& visible) {
  const Frame& frame = layout_of(y);
  if (!has_row_kernels(y, visible) || g.device() != y.device() || g.dtype() != y.dtype() || is_recorded(g) ||
      is_recorded(y) || !(frame == static_cast<const Frame&>(layout_of(g))) || !layout_of(y).is_contiguous())
    return ArrayAccess::unset();
  const ArrayBase from = contiguous(g, transforms_handled);
  const RowCount count(frame, visible);
  ArrayBase result = allocate(y.dtype(), frame, y.device());
  backend::accelerator_operations(y.device())
      .row_function(y.device(), what, y.dtype(), count.rows, count.length, device_data(from), device_data(y),
                    device_data(result));
  return result;
}

}  // namespace detail
NAX_END
