#pragma once

#include "nax/modules/data/groups.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE ArrayBase padded_array(const ArrayBase& a, const Shape& shape, const void* value) {
  need_plain("padded_batch", "an element", a);
  need_host("padded_batch", a);
  check_operand("padded_batch", a);
  if (a.shape() == shape) return a;
  const std::size_t item = dtype_size(a.dtype());
  const ArrayBase from = contiguous(a, transforms_handled);
  ArrayBase to = allocate_on_host(a.dtype(), Frame{shape, {}});
  char* const out = raw_data(to);
  const auto total = static_cast<std::size_t>(to.size());
  for (std::size_t i = 0; i < total; ++i) std::memcpy(out + i * item, value, item);
  if (from.size() == 0) return to;
  // Row by row along the last axis.
  const Shape own = from.shape();
  const auto axes = static_cast<std::size_t>(from.ndim());
  const std::size_t row = axes == 0 ? 1 : static_cast<std::size_t>(own[axes - 1]);
  const char* in = raw_data(from);
  std::vector<std::int64_t> index(axes, 0);
  for (std::int64_t left = from.size() / static_cast<std::int64_t>(row); left > 0; --left, in += row * item) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) place = place * shape[axis] + index[axis];
    std::memcpy(out + static_cast<std::size_t>(place) * item, in, row * item);
    for (std::size_t axis = axes - 1; axis-- > 0;) {
      if (++index[axis] < own[axis]) break;
      index[axis] = 0;
    }
  }
  return to;
}

NAX_ENGINE Shape common_shape(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                              const Shape& shape, std::int64_t first_extent) {
  Shape common = leaves[j].array->shape();
  if (!common.empty()) common[0] = std::max(common[0], first_extent);
  const bool given = !shape.empty() && shape.size() == common.size();
  for (std::size_t i = j; i < leaves.size(); i += stride) {
    const Shape& own = leaves[i].array->shape();
    if (own.size() != common.size())
      raise<ShapeError>({"padded_batch: elements 0 and ", i / stride, " of a batch have shapes ",
                         leaves[j].array->shape(), " and ", own});
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      common[axis] = std::max(common[axis], own[axis]);
      if (given && own[axis] > shape[axis])
        raise<ShapeError>({"padded_batch: an element of shape ", own, " is larger than ", shape});
    }
  }
  return given ? shape : common;
}

}  // namespace data::detail
NAX_END
