#pragma once

#include <optional>

#include "nax/backend/cpu/holds_nan.hpp"
#include "nax/expr/pull_many.hpp"
#include "nax/expr/pull_on_device.hpp"
#include "nax/expr/sum_axes.hpp"

// The backward pass of a fused expression: one pass of its kernel gives all leaves their gradients. And the
// forward one: the Jacobian is diagonal, so a leaf's share in the cotangent t is what a tangent t of that
// leaf adds to the result's. (Not of expressions that read conj(z): see is_holomorphic.)
namespace nax::inline NAX_ABI::detail {

// The usual small case: every leaf and the cotangent are unbroken runs over the same axes.
NAX_ENGINE bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                          const PackedArray* leaves, const ArrayBase& g, Reverse& sweep);

// ---- in general

// One pass of the fused kernel: every wanted leaf gets its share of g.
NAX_COMPILED_ONCE void pull_leaves(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                                   const void* constants, const PackedArray* leaves, const ArrayBase& g,
                                   Reverse& sweep) {
  const profile::Span span(profile::Kind::operation, name, " (gradient)");
  if (span.event()) [[unlikely]]
    profile::describe(*span.event(), layout_of(g).shape,
                      bytes_of(g) * static_cast<std::size_t>(2 * table.leaves + 1), 0);
  if (on_accelerator(g)) return pull_on_device(name, table, constants, leaves, g, sweep);
  if (pull_flat(table, kernel, constants, leaves, g, sweep)) return;
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  if (has_many(table, own, all) && pull_many(table, kernel, constants, leaves, g, own, all, sweep)) return;
  cpu::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves];
  std::size_t nodes[max_leaves];
  LeafArrays gradients(count);
  unsigned present = 0;
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType lane = table.lanes[l], stored = table.stored[l];
    operands[l] = leaf_operand(leaf, all, stored, lane);
    cpu::Operand& target = operands[count + 1 + l];
    target = {nullptr, Dims(all.shape.size(), 0), lane, lane};
    sizes[l] = 0;
    nodes[l] = sweep.place(leaf.serial());
    if (nodes[l] == Tape::npos) continue;
    if (const int first = first_occurrence(leaves, l); first != l) {
      target = operands[count + 1 + first];
      sizes[l] = sizes[first];
      continue;
    }
    const Frame frame = gradient_frame(leaf.layout(), own, layout_of(g));
    const ArrayBase* sum = lane == stored ? addable(sweep, nodes[l], lane, frame) : nullptr;
    if (sum)
      present |= 1u << l;
    else
      sum = &(gradients[l] = allocate(lane, frame));
    target.data = raw_data(*sum);
    target.strides = strides_over(layout_of(*sum), all);
    sizes[l] = layout_of(*sum).size();
  }
  operands[count] = operand_over(g, all, table.result_lane);
  cpu::pull(kernel, constants, all.shape, operands, sizes, present, count);
  for (int l = 0; l < count; ++l)
    if (ArrayAccess::buffer(gradients[l]))
      sweep.add_at(nodes[l],
                   as_dtype(std::move(gradients[l]), table.stored[l]));  // half ones, summed in float
}

NAX_ENGINE bool has_nan(const ArrayBase& a);

// The tangent of the result over `own` and the tangents' hidden axes, with `tangents[l]` null where it is
// zero; at least one is not. One pass of the kernel for each array among the leaves. Nothing where the kernel
// mixes types.
NAX_COMPILED_ONCE std::optional<ArrayBase> push_leaves(const char* name, const KernelTable& table,
                                                       cpu::PullKernel kernel, const void* constants,
                                                       const PackedArray* leaves,
                                                       const ArrayBase* const* tangents) {
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  Frame all = own;
  for (int l = 0; l < count; ++l) {
    if (!tangents[l]) continue;
    if (table.lanes[l] != table.result_lane) return std::nullopt;
    all = broadcast("jvp", all, layout_of(*tangents[l]));
  }
  if (cuda_accelerator)
    for (int l = 0; l < count; ++l)
      if (tangents[l] && on_accelerator(*tangents[l]))
        return push_on_device(table, constants, leaves, tangents, all);
  if (has_many(table, own, all)) return push_many(table, kernel, constants, leaves, tangents, own);
  ArrayBase result = allocate(table.result_lane, all);
  const Dims strides = Dims(layout_of(result).strides);
  unsigned done = 0;
  for (int first = 0; first < count; ++first) {
    if (!tangents[first] || done >> first & 1) continue;
    cpu::Operand operands[2 * max_leaves + 1];
    std::int64_t sizes[max_leaves] = {};
    const unsigned present = done ? 1u << first : 0u;
    for (int l = 0; l < count; ++l) {
      operands[l] = leaf_operand(leaves[l], all, table.stored[l], table.lanes[l]);
      operands[count + 1 + l] = {nullptr, Dims(all.shape.size(), 0), table.lanes[l], table.lanes[l]};
      if (!tangents[l] || leaves[l].serial() != leaves[first].serial()) continue;
      operands[count + 1 + l].data = raw_data(result);
      operands[count + 1 + l].strides = strides;
      sizes[l] = layout_of(result).size();
      done |= 1u << l;
    }
    operands[count] = operand_over(*tangents[first], all, table.result_lane);
    cpu::pull(kernel, constants, all.shape, operands, sizes, present, count);
  }
  // A derivative of zero may have met an infinite tangent: reverse mode ends there.
  if (table.result == table.result_lane && has_nan(result))
    return push_many(table, kernel, constants, leaves, tangents, own);
  return as_dtype(result, table.result);
}

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
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
  NewGradients gradients;
  std::size_t nodes[max_leaves];
  void* out[max_leaves];
  unsigned added = 0;
  bool spare = is_exclusive(g) && ArrayAccess::offset(g) == 0;
  int reused = -1;
  for (int l = 0; l < table.leaves; ++l) {
    out[l] = nullptr;
    gradients.at[gradients.count++] = nullptr;
    nodes[l] = sweep.place(leaves[l].serial());
    if (nodes[l] == Tape::npos) continue;
    const DType lane = table.lanes[l];
    if (const int first = first_occurrence(leaves, l); first != l) {
      out[l] = out[first];
      added |= 1u << l;
    } else if (ArrayBase* sum = addable(sweep, nodes[l], lane, layout)) {
      out[l] = raw_data(*sum);
      added |= 1u << l;
    } else if (spare && lane == g.dtype()) {
      // The cotangent's own memory serves one leaf: its elements are read before the shares are written.
      spare = false;
      reused = l;
      out[l] = raw_data(g);
    } else {
      gradients.at[l] = Buffer::allocate(static_cast<std::size_t>(n) * dtype_size(lane));
      out[l] = gradients.at[l]->data();
    }
  }
  kernel(constants, in, raw_data(g), out, added, nullptr, n);
  for (int l = 0; l < table.leaves; ++l)
    if (gradients.at[l]) sweep.add_at(nodes[l], ArrayAccess::make(gradients.take(l), layout, table.lanes[l]));
  if (reused >= 0) sweep.add_at(nodes[reused], constant(g));
  return true;
}

NAX_ENGINE bool has_nan(const ArrayBase& a) {
  const std::int64_t n = layout_of(a).size();
  return a.dtype() == DType::float32   ? cpu::holds_nan(reinterpret_cast<const float*>(raw_data(a)), n)
         : a.dtype() == DType::float64 ? cpu::holds_nan(reinterpret_cast<const double*>(raw_data(a)), n)
                                       : false;
}

}  // namespace nax::inline NAX_ABI::detail
#endif
