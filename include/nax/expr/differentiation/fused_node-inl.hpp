#pragma once

#include "nax/expr/differentiation/fused_node.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE FusedNode::FusedNode(const FusedType& type, const ArrayBase* const* leaves, const void* constants)
    : type_(type) {
  int made = 0;
  try {
    for (; made < count(); ++made)
      new (this->leaves() + made)
          PackedArray(*leaves[made], type.reads >> made & 1, type.carries >> made & 1);
  } catch (...) {  // a layout that found no memory
    while (made > 0) this->leaves()[--made].~PackedArray();
    throw;
  }
  copy_constants(constants, type.constants, this->constants());
}

NAX_ENGINE void FusedNode::pull(const ArrayBase& g, Reverse& sweep) {
  if (type_.is_sum) {
    const Frame own = frame();
    for (int l = 0; l < 2; ++l) give_leaf(type_.steps[l], g, own, sweep);
  } else if (recording.tape) {
    pull_recorded(g, sweep);
  } else if (watches_numbers()) [[unlikely]] {
    pull_looking(g, sweep);
  } else {
    pull_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), g, sweep);
  }
}

NAX_ENGINE void FusedNode::pull_number(Number g, Reverse& sweep) {
  const bool plain = !recording.tape && !watches_numbers();
  if (plain && type_.is_sum) {
    for (int l = 0; l < 2; ++l)
      if (const std::size_t node = sweep.place(leaves()[l].serial()); node != Tape::npos)
        sweep.add_number_at(node, g);
    return;
  }
  if (plain && count() == 1 && type_.reads == 0 && type_.scalar_pull) {
    const std::size_t node = sweep.place(leaves()->serial());
    if (node == Tape::npos) return;
    bool present = false;
    if (void* const sum = sweep.number_for(node, type_.kernels->stored[0], present)) {
      // The leaf is not read; the cotangent stands in.
      void* out[] = {sum};
      return type_.scalar_pull(constants(), &g.value, g.value, out, present, nullptr, 1);
    }
  }
  pull(g.array(sweep.device()), sweep);
}

NAX_ENGINE unsigned FusedNode::odd_numbers_in_leaves() const {
  unsigned found = 0;
  for (int l = 0; l < count(); ++l)
    if (leaves()[l].buffer()) found |= odd_numbers_in(leaves()[l].unpack(type_.kernels->stored[l]));
  return found;
}

NAX_ENGINE void FusedNode::pull_looking(const ArrayBase& g, Reverse& sweep) {
  // Sums of cotangents that were there before have been looked at when they were made.
  const unsigned before = odd_numbers_in(g) | odd_numbers_in_leaves();
  pull_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), g, sweep);
  for (int l = 0; l < count(); ++l) {
    const std::size_t node = sweep.place(leaves()[l].serial());
    const ArrayBase* const sum = node == Tape::npos ? nullptr : sweep.at(node);
    if (sum)
      check_numbers(type_.name, " (gradient)", before, *sum, nullptr, 0, type_.kernels->formula, constants());
  }
}

NAX_ENGINE void FusedNode::check_tangent(const ArrayBase* const* tangents, const ArrayBase& tangent) const {
  unsigned before = odd_numbers_in_leaves();
  for (int l = 0; l < count(); ++l)
    if (tangents[l]) before |= odd_numbers_in(*tangents[l]);
  check_numbers(type_.name, " (derivative)", before, tangent, nullptr, 0, type_.kernels->formula,
                leaves() + count());
}

NAX_ENGINE void FusedNode::push(Forward& sweep, std::size_t self) {
  const ArrayBase* tangents[max_leaves];
  bool any = false;
  for (int l = 0; l < count(); ++l) {
    tangents[l] = sweep.find(leaves()[l].serial());
    any = any || tangents[l];
  }
  if (!any) return;
  std::optional<ArrayBase> tangent;
  if (type_.is_sum)
    tangent = push_sum(tangents);
  else if (!recording.tape && type_.holomorphic)
    tangent = push_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), tangents);
  if (!tangent) tangent = push_recorded(tangents);
  if (tangent && watches_numbers()) [[unlikely]]
    check_tangent(tangents, *tangent);
  if (tangent) sweep.put(self, type_.spread(*tangent, broadcast("jvp", layout_of(*tangent), frame())));
}

}  // namespace detail
NAX_END
