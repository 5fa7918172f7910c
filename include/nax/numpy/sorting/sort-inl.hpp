#pragma once

#include "nax/numpy/sorting/sort.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase sortable_rows(const ArrayBase& x) {
  return as_dtype(contiguous(x, transforms_handled), lane_of(x.dtype()));
}

NAX_ENGINE ArrayBase argsort_lines(const ArrayBase& x, int axis, bool descending) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  ArrayBase order = allocate(DType::int32, layout_of(rows), device_for("argsort", x));
  backend::run(order.device(), ops::Argsort{lines_of(layout_of(rows), axis), rows.dtype(), descending},
               {device_data(rows), device_data(order)});
  return order;
}

NAX_ENGINE ArrayBase sort_lines(const ArrayBase& x, int axis, bool descending) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  ArrayBase sorted = allocate(x.dtype(), layout_of(rows), device_for("sort", x));
  backend::run(sorted.device(), ops::Sort{lines_of(layout_of(rows), axis), rows.dtype(), descending},
               {device_data(rows), device_data(sorted)});
  return sorted;
}

NAX_ENGINE ArrayBase top_k_lines(const ArrayBase& x, std::int64_t k) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  Frame frame = layout_of(rows);
  frame.shape.back() = k;
  ArrayBase order = allocate(DType::int32, frame, device_for("top_k", x));
  backend::run(order.device(), ops::TopK{lines_of(layout_of(rows), x.ndim() - 1), rows.dtype(), k},
               {device_data(rows), device_data(order)});
  return order;
}

}  // namespace detail
NAX_END
