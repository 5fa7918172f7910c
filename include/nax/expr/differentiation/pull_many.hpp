#pragma once

#include "nax/expr/differentiation/unbroadcast.hpp"
#include "nax/expr/evaluation/packed_leaves.hpp"

// Pulling and pushing through a fused expression where each value has many tangents or cotangents, as
// Jacobians and Hessians bring them in hidden axes: the derivative is computed once for each value, and
// multiplies each of them.
NAX_BEGIN
namespace detail {

NAX_ENGINE bool has_many(const KernelTable& table, const Frame& own, const Frame& all);

// One pass of the kernel over `own`: derivatives[l] = that of the result in leaf l, where wanted(l) (the same
// for leaves that are one).
NAX_ENGINE void derivatives_of(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                               const PackedArray* leaves, const Frame& own, ArrayBase* derivatives,
                               FunctionRef<bool(int)> wanted);

// sum + t d, of a sum that may be yet to come.
template <class T>
void add_scaled_of(ArrayBase& sum, const ArrayBase& t, const ArrayBase& d) {
  if (!ArrayAccess::buffer(sum)) {
    sum = evaluate(make_expr<rules::scale>(typed<T>(t), typed<T>(d)));
  } else {
    Array<T> total = typed<T>(std::exchange(sum, ArrayBase()));
    const auto next = make_expr<rules::add_scaled>(total, typed<T>(t), typed<T>(d));
    assign(total, next);
    sum = std::move(total);
  }
}

NAX_ENGINE void add_scaled(ArrayBase& sum, const ArrayBase& t, const ArrayBase& d);

// False, and nothing done, where a leaf's gradient is summed over axes that the leaf lacks.
NAX_COMPILED_ONCE bool pull_many(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                                 const PackedArray* leaves, const ArrayBase& g, const Frame& own,
                                 const Frame& all, Reverse& sweep) {
  std::size_t nodes[max_leaves];
  Frame frames[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    nodes[l] = sweep.place(leaves[l].serial());
    if (nodes[l] == Tape::npos) continue;
    frames[l] = gradient_frame(leaves[l].layout(), own, layout_of(g));
    if (table.stored[l] != table.result || frames[l].size() != all.size()) return false;
  }
  ArrayBase derivatives[max_leaves];
  derivatives_of(table, kernel, constants, leaves, own, derivatives,
                 [&](int l) { return nodes[l] != Tape::npos; });
  for (int l = 0; l < table.leaves; ++l) {
    if (nodes[l] == Tape::npos || first_occurrence(leaves, l) != l) continue;
    ArrayBase* const sum = frames[l] == all ? addable(sweep, nodes[l], table.result, all) : nullptr;
    ArrayBase next = sum ? std::exchange(*sum, ArrayBase()) : ArrayBase();
    add_scaled(next, g, derivatives[l]);
    if (sum) {
      *sum = std::move(next);
    } else {  // its frame lacks extents of 1 at most
      sweep.add_at(nodes[l],
                   ArrayAccess::make(ArrayAccess::buffer(next), Layout::contiguous(frames[l]), next.dtype()));
    }
  }
  return true;
}

NAX_COMPILED_ONCE ArrayBase push_many(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                                      const PackedArray* leaves, const ArrayBase* const* tangents,
                                      const Frame& own) {
  ArrayBase derivatives[max_leaves];
  derivatives_of(table, kernel, constants, leaves, own, derivatives,
                 [&](int l) { return tangents[l] != nullptr; });
  ArrayBase sum;
  for (int l = 0; l < table.leaves; ++l)
    if (tangents[l] && first_occurrence(leaves, l) == l) add_scaled(sum, *tangents[l], derivatives[l]);
  return sum;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/pull_many-inl.hpp"
#endif
