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

inline void pull_scalars(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                         const PackedArray* leaves, const Number& g, Reverse& sweep) {
  const void* in[max_leaves];
  void* out[max_leaves];
  std::size_t nodes[max_leaves];
  Number shares[max_leaves];
  unsigned added = 0;
  for (int l = 0; l < table.leaves; ++l) {
    const PackedArray& leaf = leaves[l];
    // A leaf without its value is not read for what it is; the cotangent stands in.
    in[l] = leaf.buffer() ? leaf.data(table.stored[l]) : g.data();
    out[l] = nullptr;
    nodes[l] = sweep.place(leaf.serial());
    if (nodes[l] == Tape::npos) continue;
    if (const int first = first_occurrence(leaves, l); first != l) {
      nodes[l] = Tape::npos;
      out[l] = out[first];
      added |= 1u << l;
      continue;
    }
    out[l] = shares[l].data();
    if (const Number* sum = sweep.number_at(nodes[l])) {  // to which the kernel adds
      shares[l] = *sum;
      added |= 1u << l;
    } else if (ArrayBase* array = addable(sweep, nodes[l], table.lanes[l], no_axes)) {
      out[l] = raw_data(*array);
      nodes[l] = Tape::npos;
      added |= 1u << l;
    } else {
      shares[l].dtype = table.lanes[l];
    }
  }
  kernel(constants, in, g.data(), out, added, 1);
  for (int l = 0; l < table.leaves; ++l) {
    if (nodes[l] == Tape::npos) continue;
    if (Number* sum = sweep.number_at(nodes[l]))
      *sum = shares[l];
    else
      sweep.add_number_at(nodes[l], shares[l]);
  }
}

}  // namespace nax::detail
