#pragma once

#include "nax/expr/evaluation/evaluate.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool compute_flat(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                             const Frame& frame, const ArrayBase& result) {
  if (table.result_lane != result.dtype()) return false;
  const std::int64_t n = frame.size();
  if (n > cpu::detail::parallel_grain) return false;
  const void* in[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    const ArrayBase& leaf = *leaves[l];
    if (table.stored[l] != table.lanes[l] || !(layout_of(leaf).shape == frame.shape) ||
        !layout_of(leaf).is_contiguous())
      return false;
    in[l] = raw_data(leaf);
  }
  if (n > 0) table.forward(constants, in, raw_data(result), n);
  return true;
}

NAX_ENGINE void compute_on_device(const KernelTable& table, const void* constants,
                                  const ArrayBase* const* leaves, const Frame& frame,
                                  const ArrayBase& result) {
  const Device device = result.device();
  if (on_program(device)) return record_map(table, constants, leaves, frame, result);
  if (!table.device->forward) throw_no_kernel(table.name, device);
  if (frame.size() == 0) return;
  loops::Operand operands[max_leaves + 1];
  ArrayBase numbers[max_leaves];
  for (int l = 0; l < table.leaves; ++l)
    operands[l] = device_operand(*leaves[l], frame, table.lanes[l], device, numbers[l]);
  operands[table.leaves] = device_operand(result, frame, table.result_lane, device, numbers[0]);
  Dims shape = frame.shape;
  loops::collapse(shape, operands, table.leaves + 1);
  table.device->forward(device, constants, shape, operands);
}

NAX_ENGINE void compute_watched(const KernelTable& table, const void* constants,
                                const ArrayBase* const* leaves, const Frame& frame, const ArrayBase& result) {
  const unsigned before = odd_numbers_in(leaves, table.leaves);  // now: the result may lie in a leaf's place
  compute_unwatched(table, constants, leaves, frame, result);
  check_numbers(table.name, "", before, result, leaves, table.leaves, table.formula, constants);
}

NAX_ENGINE void describe_operation(profile::Event& event, const ArrayBase* const* leaves, int count,
                                   const Frame& frame, const ArrayBase& result) {
  std::size_t bytes = bytes_of(result);
  for (int l = 0; l < count; ++l) bytes += bytes_of(*leaves[l]);
  event.device = result.device();
  profile::describe(event, frame.shape, bytes, static_cast<double>(frame.size()));
}

NAX_ENGINE bool any_on_tape(const KernelTable& table, const ArrayBase* const* leaves) {
  for (int l = 0; l < table.leaves; ++l)
    if (table.inexact >> l & 1 && is_recorded(*leaves[l])) return true;
  return false;
}

NAX_ENGINE void compute_into(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                             const Frame& frame, ArrayBase& result) {
  compute(table, constants, leaves, frame, result);
  if (table.fused_type && any_recorded(table, leaves))
    ArrayAccess::serial(result) = record_fused(table.fused_type(), leaves, constants, result);
}

NAX_ENGINE bool is_in_place(const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                            const ArrayBase& target) {
  const BufferRef& buffer = ArrayAccess::buffer(target);
  const Layout& layout = layout_of(target);
  if (!buffer || buffer->source || !(layout == frame) || !layout.is_contiguous()) return false;
  if (table.fused_type && any_recorded(table, leaves)) return false;
  if (accelerators_present && !share_memory(common_device(table.name, leaves, table.leaves), buffer->device))
    return false;
  std::uint32_t uses = 1;
  for (int l = 0; l < table.leaves; ++l) {
    const ArrayBase& leaf = *leaves[l];
    if (ArrayAccess::buffer(leaf).get() != buffer.get()) continue;
    ++uses;
    if (ArrayAccess::offset(leaf) != ArrayAccess::offset(target) ||
        !(layout_of(leaf).strides == layout.strides) || !(layout_of(leaf) == layout) ||
        leaf.dtype() != target.dtype())
      return false;
  }
  return buffer.use_count() == uses && buffer->is_own();
}

}  // namespace detail
NAX_END
