#pragma once

#include "nax/expr/differentiation/scalar_node.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ScalarLeaf::ScalarLeaf(DType dtype, const void* value, std::uint64_t serial) : serial_(serial) {
  switch (dtype_size(dtype)) {  // of known sizes, which need no call
    case 4:
      std::memcpy(value_, value, 4);
      break;
    case 8:
      std::memcpy(value_, value, 8);
      break;
    case 2:
      std::memcpy(value_, value, 2);
      break;
    default:
      std::memcpy(value_, value, 1);
  }
}

NAX_ENGINE ScalarNode::ScalarNode(const FusedType& type, const ArrayBase* const* leaves,
                                  const void* const* in, const void* constants) noexcept
    : type_(type) {
  ScalarLeaf* to = this->leaves();
  const int count = type.leaves;
  for (int l = 0; l < count; ++l, ++to)
    new (to) ScalarLeaf(type.kernels->stored[l], in[l], type.carries >> l & 1 ? serial_of(*leaves[l]) : 0);
  copy_constants(constants, type.constants, to);
}

NAX_ENGINE void ScalarNode::pull_number(Number g, Reverse& sweep) {
  if (recording.tape || watches_numbers()) [[unlikely]]
    return pull_watched(g, sweep);
  if (type_.leaves != 1) return pull_several(g, sweep);
  const std::size_t node = sweep.place(leaves()->serial());
  if (node == Tape::npos) return;
  bool present = false;
  void* const sum = sweep.number_for(node, type_.kernels->stored[0], present);
  if (!sum) [[unlikely]]
    return pull_several(g, sweep);
  const void* const in = leaves()->value();
  type_.scalar_pull(constants(), &in, g.value, &sum, present, nullptr, 1);
}

}  // namespace detail
NAX_END
