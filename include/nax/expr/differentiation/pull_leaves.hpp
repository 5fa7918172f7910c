#pragma once

#include <optional>

#include "nax/backend/cpu/packets/holds_nan.hpp"
#include "nax/expr/differentiation/program_steps.hpp"
#include "nax/expr/differentiation/pull_many.hpp"
#include "nax/expr/differentiation/pull_on_device.hpp"
#include "nax/expr/differentiation/sum_axes.hpp"

// The backward pass of a fused expression: one pass of its kernel gives all leaves their gradients. And the
// forward one: the Jacobian is diagonal, so a leaf's share in the cotangent t is what a tangent t of that
// leaf adds to the result's. (Not of expressions that read conj(z): see is_holomorphic.)
NAX_BEGIN
namespace detail {

// Who derives expressions that do not lie on the host: a card's kernels, or steps of a program.
struct DerivativesElsewhere {
  decltype(&record_pull) pull = nullptr;
  decltype(&record_push) push = nullptr;
};
inline const DerivativesElsewhere& derivatives_on(Device device) {
  static constexpr DerivativesElsewhere all[platform_count] = {
      {}, {pull_on_device, push_on_device}, {record_pull, record_push}};
  return all[static_cast<int>(device.platform)];
}

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
  if (const DerivativesElsewhere& there = derivatives_on(g.device()); there.pull)
    return there.pull(name, table, kernel, constants, leaves, g, sweep);
  if (pull_flat(table, kernel, constants, leaves, g, sweep)) return;
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  if (has_many(table, own, all) && pull_many(table, kernel, constants, leaves, g, own, all, sweep)) return;
  loops::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves];
  std::size_t nodes[max_leaves];
  LeafArrays gradients(count);
  unsigned present = 0;
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType lane = table.lanes[l], stored = table.stored[l];
    operands[l] = leaf_operand(leaf, all, stored, lane);
    loops::Operand& target = operands[count + 1 + l];
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
      sum = &(gradients[l] = allocate(lane, frame, host_device()));
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
  if (accelerators_present)
    for (int l = 0; l < count; ++l)
      if (const DerivativesElsewhere* there = tangents[l] ? &derivatives_on(tangents[l]->device()) : nullptr;
          there && there->push)
        return there->push(table, kernel, constants, leaves, tangents, all);
  if (has_many(table, own, all)) return push_many(table, kernel, constants, leaves, tangents, own);
  ArrayBase result = allocate(table.result_lane, all, host_device());
  const Dims strides = Dims(layout_of(result).strides);
  unsigned done = 0;
  for (int first = 0; first < count; ++first) {
    if (!tangents[first] || done >> first & 1) continue;
    loops::Operand operands[2 * max_leaves + 1];
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

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/pull_leaves-inl.hpp"
#endif
