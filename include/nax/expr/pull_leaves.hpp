#pragma once

#include "nax/expr/sum_axes.hpp"
#include "nax/tape/packed_array.hpp"

// The backward pass of a fused expression: one pass of its kernel gives all leaves their gradients.
namespace nax::detail {

inline Frame frame_of_leaves(const char* name, const PackedArray* leaves, int count) {
  Frame frame = leaves[0].layout();
  for (int l = 1; l < count; ++l) frame = broadcast(name, frame, leaves[l].layout());
  return frame;
}

// What a leaf reads whose value no derivative needs.
inline char* unread_leaf() {
  alignas(16) static char bytes[16] = {};
  return bytes;
}

// Half gradients are accumulated in float, then stored.
inline ArrayBase to_stored(ArrayBase gradient, DType stored) {
  if (gradient.dtype() == stored) return gradient;
  ArrayBase result = allocate(stored, layout_of(gradient));
  cpu::converter(gradient.dtype(), stored)(raw_data(gradient), 1, raw_data(result), 1,
                                           layout_of(result).size());
  return result;
}

// The usual small case: every leaf and the cotangent are unbroken runs over the same axes.
inline bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                      const PackedArray* leaves, const ArrayBase& g, Reverse& sweep) {
  const Layout& layout = layout_of(g);
  const std::int64_t n = layout.size();
  if (n > cpu::detail::parallel_grain || n == 0 || !layout.is_contiguous() || table.result_lane != g.dtype())
    return false;
  const void* in[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    const PackedArray& leaf = leaves[l];
    if (table.stored[l] != table.lanes[l] || !leaf.layout().is_contiguous() ||
        !(static_cast<const Frame&>(leaf.layout()) == layout))
      return false;
    // A leaf without its value is not read for what it is; the cotangent stands in.
    in[l] = leaf.buffer() ? leaf.data(table.stored[l]) : raw_data(g);
  }
  BufferRef gradients[max_leaves];
  void* out[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    out[l] = nullptr;
    if (dtype_kind(table.stored[l]) < Kind::floating || !sweep.wants(leaves[l].serial())) continue;
    gradients[l] = BufferRef(Buffer::allocate(static_cast<std::size_t>(n) * dtype_size(table.lanes[l])));
    out[l] = gradients[l]->data();
  }
  kernel(constants, in, raw_data(g), out, n);
  for (int l = 0; l < table.leaves; ++l)
    if (out[l]) sweep.add(leaves[l].serial(), over(std::move(gradients[l]), table.lanes[l], layout));
  return true;
}

// One pass of the fused kernel: every wanted leaf gets its share of g.
[[gnu::noinline]] inline void pull_leaves(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                                          const void* constants, const PackedArray* leaves,
                                          const ArrayBase& g, Reverse& sweep) {
  if (pull_flat(table, kernel, constants, leaves, g, sweep)) return;
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  cpu::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves];
  ArrayBase gradients[max_leaves];
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType lane = table.lanes[l], stored = table.stored[l];
    operands[l] = {leaf.buffer() ? leaf.data(stored) : unread_leaf(), Dims(all.shape.size(), 0), stored,
                   lane};
    if (leaf.buffer()) operands[l].strides = strides_over(leaf.layout(), all);
    cpu::Operand& target = operands[count + 1 + l];
    target = {nullptr, Dims(all.shape.size(), 0), lane, lane};
    sizes[l] = 0;
    if (dtype_kind(stored) < Kind::floating || !sweep.wants(leaf.serial())) continue;
    gradients[l] = allocate(lane, gradient_frame(leaf.layout(), own, layout_of(g)));
    target.data = raw_data(gradients[l]);
    target.strides = strides_over(layout_of(gradients[l]), all);
    sizes[l] = layout_of(gradients[l]).size();
  }
  operands[count] = operand_over(g, all, table.result_lane);
  cpu::pull(kernel, constants, all.shape, operands, sizes, count);
  for (int l = 0; l < count; ++l)
    if (ArrayAccess::buffer(gradients[l]))
      sweep.add(leaves[l].serial(), to_stored(std::move(gradients[l]), table.stored[l]));
}

}  // namespace nax::detail
