#pragma once

#include "nax/numpy/sorting/sort.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase argsort_on_device(const ArrayBase& x, int axis, bool descending) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  ArrayBase order = allocate(DType::int32, layout_of(rows), rows.device());
  backend::operations(rows.device())
      .argsort(rows.device(), lines_of(layout_of(rows), axis), rows.dtype(), descending, device_data(rows),
               reinterpret_cast<std::int32_t*>(device_data(order)));
  return order;
}

}  // namespace detail
NAX_END
