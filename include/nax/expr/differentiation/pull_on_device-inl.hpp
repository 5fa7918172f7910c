#pragma once

#include "nax/expr/differentiation/pull_on_device.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE DevicePullLaunch::DevicePullLaunch(const KernelTable& table, const void* constants,
                                              const PackedArray* leaves, const Frame& all, const ArrayBase& g)
    : table_(table), constants_(constants), device_(g.device()), shape_(all.shape) {
  const int count = table.leaves;
  const ArrayBase cotangent = as_dtype(g, table.result);
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    // A leaf without its value is not read for what it is; the cotangent stands in.
    if (!leaf.buffer())
      operands_[l] = {static_cast<char*>(ArrayAccess::buffer(g)->data()), Dims(all.shape.size(), 0),
                      table.stored[l], table.lanes[l]};
    else
      operands_[l] = device_operand(leaf.unpack(table.stored[l]), all, table.lanes[l], device_, numbers_[l]);
    operands_[count + 1 + l] = {nullptr, Dims(all.shape.size(), 0), gradient_dtype(l), gradient_dtype(l)};
  }
  operands_[count] = device_operand(cotangent, all, table.result, device_, held_);
  held_ = cotangent;
}

NAX_ENGINE ArrayBase share_summed(const ArrayBase& share, const Frame& leaf, const Frame& own) {
  const Layout& layout = layout_of(share);
  const Frame target = gradient_frame(leaf, own, layout);
  const AxisMarks summed = axes_to_sum(layout, leaf, target);
  ArrayBase sum = share;
  if (!summed.empty()) {
    sum = allocate(share.dtype(), reduced_frame(layout, summed, true), share.device());
    reduce_values(loops::ReduceKind::sum, share, layout, summed, sum);
  }
  return ArrayAccess::make(ArrayAccess::buffer(sum), Layout::contiguous(target), sum.dtype());
}

}  // namespace detail
NAX_END
