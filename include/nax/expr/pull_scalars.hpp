#pragma once

#include "nax/expr/pull_leaves.hpp"

// The backward pass of a fused expression of numbers: its kernel runs over one element, and neither it nor
// what hands the shares on makes an array. All leaves and the cotangent have no axes and lie on the host.
namespace nax::detail {

// Of the sum of two arrays.
inline void pull_sum_of_scalars(const PackedArray* leaves, const Number& g, Reverse& sweep) {
  for (int l = 0; l < 2; ++l)
    if (const std::size_t node = sweep.place(leaves[l].serial()); node != Tape::npos)
      sweep.add_number_at(node, g);
}

// False, and nothing done, where a sum is there that is no number.
inline bool pull_scalars(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                         const PackedArray* leaves, const Number& g, Reverse& sweep) {
  const void* in[max_leaves];
  void* out[max_leaves];
  std::size_t nodes[max_leaves];
  const int count = table.leaves;
  for (int l = 0; l < count; ++l) {
    nodes[l] = sweep.place(leaves[l].serial());
    if (nodes[l] != Tape::npos && !sweep.takes_number(nodes[l], table.lanes[l])) return false;
  }
  sweep.reserve_numbers(count);
  unsigned added = 0;
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    // A leaf without its value is not read for what it is; the cotangent stands in.
    in[l] = leaf.buffer() ? leaf.data(table.stored[l]) : g.data();
    out[l] = nullptr;
    if (nodes[l] == Tape::npos) continue;
    if (Number* sum = sweep.number_at(nodes[l])) {  // to which the kernel adds
      out[l] = sum->data();
      added |= 1u << l;
    } else {
      out[l] = sweep.new_number_at(nodes[l], table.lanes[l]).data();
    }
  }
  kernel(constants, in, g.data(), out, added, 1);
  return true;
}

}  // namespace nax::detail
