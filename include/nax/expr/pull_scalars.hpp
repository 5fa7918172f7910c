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

// A leaf without its value is not read for what it is; the cotangent stands in.
inline const void* value_of(const PackedArray& leaf, DType dtype, const Number& g) {
  return leaf.buffer() ? leaf.host_data(dtype) : g.data();
}

// What the kernel writes for a leaf whose sum is no number is added to that sum afterwards.
[[gnu::cold, gnu::noinline]] inline void add_apart(unsigned apart, const std::size_t* nodes,
                                                   const Number* shares, Reverse& sweep) {
  for (int l = 0; apart >> l; ++l)
    if (apart >> l & 1) sweep.add_at(nodes[l], shares[l].array());
}

[[gnu::noinline, gnu::flatten]] inline void pull_several(const KernelTable& table, cpu::PullKernel kernel,
                                                         const void* constants, const PackedArray* leaves,
                                                         const Number& g, Reverse& sweep) {
  const void* in[max_leaves];
  void* out[max_leaves];
  std::size_t nodes[max_leaves];
  Number shares[max_leaves];
  unsigned added = 0, apart = 0;
  const int count = table.leaves;
  sweep.reserve_numbers(count);
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType dtype = table.stored[l];
    in[l] = value_of(leaf, dtype, g);
    out[l] = nullptr;
    nodes[l] = sweep.place(leaf.serial());
    if (nodes[l] == Tape::npos) continue;
    bool present = false;
    if (Number* sum = sweep.number_for(nodes[l], dtype, present)) {
      out[l] = sum->data();
      added |= static_cast<unsigned>(present) << l;
    } else {
      const int first = first_occurrence(leaves, l);
      shares[first].dtype = dtype;
      out[l] = shares[first].data();
      (first == l ? apart : added) |= 1u << l;
    }
  }
  kernel(constants, in, g.data(), out, added, nullptr, 1);
  if (apart) [[unlikely]]
    add_apart(apart, nodes, shares, sweep);
}

inline void pull_scalars(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                         const PackedArray* leaves, const Number& g, Reverse& sweep) {
  if (table.leaves != 1) return pull_several(table, kernel, constants, leaves, g, sweep);
  const std::size_t node = sweep.place(leaves->serial());
  if (node == Tape::npos) return;
  bool present = false;
  Number* const sum = sweep.number_for(node, table.stored[0], present);
  if (!sum) [[unlikely]]
    return pull_several(table, kernel, constants, leaves, g, sweep);
  const void* const in = value_of(*leaves, table.stored[0], g);
  void* const out = sum->data();
  kernel(constants, &in, g.data(), &out, present, nullptr, 1);
}

}  // namespace nax::detail
