#pragma once

#include "nax/expr/fused_node.hpp"

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
  } else {
    pull_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), g, sweep);
  }
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
  if (tangent) sweep.put(self, type_.spread(*tangent, broadcast("jvp", layout_of(*tangent), frame())));
}

}  // namespace detail
NAX_END
