#pragma once

#include "nax/expr/differentiation/pull_many.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool has_many(const KernelTable& table, const Frame& own, const Frame& all) {
  constexpr std::int64_t many = 4, few_elements = 4096;
  return all.size() > few_elements && all.size() >= many * own.size() && table.result == table.result_lane &&
         (table.result == DType::float32 || table.result == DType::float64);
}

NAX_ENGINE void derivatives_of(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                               const PackedArray* leaves, const Frame& own, ArrayBase* derivatives,
                               FunctionRef<bool(int)> wanted) {
  const DType lane = table.result_lane;
  alignas(16) char one[16];
  if (lane == DType::float32)
    new (one) float(1);
  else
    new (one) double(1);
  const int count = table.leaves;
  loops::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves] = {};
  for (int l = 0; l < count; ++l) {
    operands[l] = leaf_operand(leaves[l], own, table.stored[l], table.lanes[l]);
    operands[count + 1 + l] = {nullptr, Dims(own.shape.size(), 0), table.lanes[l], table.lanes[l]};
    if (!wanted(l)) continue;
    const int first = first_occurrence(leaves, l);
    derivatives[l] = first == l ? allocate(lane, own, host_device()) : derivatives[first];
    operands[count + 1 + l].data = raw_data(derivatives[l]);
    operands[count + 1 + l].strides = layout_of(derivatives[l]).strides;
    sizes[l] = own.size();
  }
  operands[count] = {one, Dims(own.shape.size(), 0), lane, lane};
  cpu::pull(kernel, constants, own.shape, operands, sizes, 0, count);
}

NAX_ENGINE void add_scaled(ArrayBase& sum, const ArrayBase& t, const ArrayBase& d) {
  if (d.dtype() == DType::float32)
    add_scaled_of<float>(sum, t, d);
  else
    add_scaled_of<double>(sum, t, d);
}

}  // namespace detail
NAX_END
