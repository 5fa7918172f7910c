#pragma once

#include "nax/numpy/sorting/order.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase argpartition_lines(const ArrayBase& x, std::int64_t kth, int axis) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  const loops::Lines lines = lines_of(layout_of(rows), axis);
  ArrayBase order = allocate(DType::int32, layout_of(rows), device_for("argpartition", x));
  backend::run(order.device(), ops::Argpartition{lines, rows.dtype(), kth < 0 ? kth + lines.n : kth},
               {device_data(rows), device_data(order)});
  return order;
}

NAX_ENGINE ArrayBase partition_lines(const ArrayBase& x, std::int64_t kth, int axis) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  const loops::Lines lines = lines_of(layout_of(rows), axis);
  ArrayBase parted = allocate(x.dtype(), layout_of(rows), device_for("partition", x));
  backend::run(parted.device(), ops::Partition{lines, rows.dtype(), kth < 0 ? kth + lines.n : kth},
               {device_data(rows), device_data(parted)});
  return parted;
}

NAX_ENGINE void check_kth(const char* function, const std::vector<std::int64_t>& kth, std::int64_t n) {
  for (const std::int64_t k : kth)
    if (k < -n || k >= n)
      raise<ValueError>({function, ": kth(=", k, ") out of bounds for an axis of ", n, " elements"});
}

}  // namespace detail
NAX_END
