#pragma once

#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/expr/differentiation/fused_sum_node.hpp"

// Sums of expressions under a gradient. One pass gives the sum and the derivatives of its terms: what is
// expensive, such as an exponential, is computed once for both, and block by block the terms stay in the
// first-level cache.
//
// Other cases (half types, leaves on a GPU, transforms around this one, ...) go the general way: a
// sum, and a node of the expression that computes the derivatives when a sweep comes by.
NAX_BEGIN
namespace detail {

// The facts about an expression type that a fused sum needs.
struct FusedSumType {
  const FusedType& fused;
  cpu::PullKernel pull;      // with values
  cpu::PullKernel pull_one;  // for leaves that are all one array; may be null
  cpu::PullKernel sum_one;   // the same, but adds the values up
  bool functions;            // is it more than arithmetic?
};

// The leaves that get a derivative. `first[l]`: the first leaf that is the same array, where the derivative
// is; -1 where no gradient flows.
struct DerivedLeaves {
  NewGradients derivatives;
  char* data[max_leaves];
  int first[max_leaves];
  bool summed[max_leaves];  // over axes that the leaf lacks
  bool any_summed = false;
  bool one;   // are all leaves one array, and is there a kernel for that?
  int count;  // of leaves; of `one`, the first stands for all
};

NAX_ENGINE bool are_one(const ArrayBase* const* leaves, int count);

// True if the leaf has all axes that the sum keeps, so that no two cotangents are added in one element of the
// derivative.
NAX_ENGINE bool has_all_kept(const Frame& leaf, const FusedSum& sum, const Frame& frame);

// False where the general way must do.
NAX_COMPILED_ONCE bool find_derived(const FusedSumType& type, const ArrayBase* const* leaves,
                                    const FusedSum& sum, const Frame& frame, DerivedLeaves& to) {
  const KernelTable& table = *type.fused.kernels;
  // A sweep that an outer transform watches needs the leaves. Arithmetic is soon done again when the
  // cotangents are many; where there is but one, it may well be 1.
  if (recording.tape->scopes.marks.size() > 1 || watches_numbers() || table.result_lane != table.result ||
      !(type.functions || sum.whole()))
    return false;
  to.one = type.pull_one && are_one(leaves, table.leaves);
  to.count = to.one ? 1 : table.leaves;
  std::size_t elements = 0;
  for (int l = 0; l < to.count; ++l) {
    const ArrayBase& leaf = *leaves[l];
    const bool carries = to.one ? type.fused.carries != 0 : type.fused.carries >> l & 1;
    to.first[l] = -1;
    if (!carries || !is_recorded(leaf)) continue;
    if (leaf.dtype() != table.result || table.lanes[l] != table.result ||
        !has_all_kept(layout_of(leaf), sum, frame))
      return false;
    to.first[l] = l;
    for (int k = 0; k < l; ++k)
      if (to.first[k] == k && serial_of(*leaves[k]) == serial_of(leaf)) to.first[l] = k;
    if (to.first[l] == l) elements += static_cast<std::size_t>(layout_of(leaf).size());
  }
  // Many sums of one array would hold a derivative each, where its elements do for all of them.
  constexpr std::size_t most_bytes = 64 << 20;
  const std::size_t held = recording.tape->derivative_bytes;
  return elements > 0 && frame.size() > 0 &&
         (held == 0 || held + elements * dtype_size(table.result) <= most_bytes);
}

NAX_COMPILED_ONCE void allocate_derivatives(DType dtype, const ArrayBase* const* leaves, std::int64_t size,
                                            Device device, DerivedLeaves& to) {
  for (int l = 0; l < to.count; ++l) {
    to.derivatives.at[to.derivatives.count++] = nullptr;
    to.data[l] = nullptr;
    to.summed[l] = false;
    if (to.first[l] < 0) continue;
    to.data[l] = to.data[to.first[l]];
    to.summed[l] = to.summed[to.first[l]];
    if (to.first[l] != l) continue;
    const std::int64_t elements = layout_of(*leaves[l]).size();
    const std::size_t bytes = static_cast<std::size_t>(elements) * dtype_size(dtype);
    to.derivatives.at[l] = Buffer::allocate(bytes, device);
    to.data[l] = static_cast<char*>(to.derivatives.at[l]->data());
    to.summed[l] = elements != size;
    to.any_summed = to.any_summed || to.summed[l];
    if (to.summed[l]) std::memset(to.data[l], 0, bytes);
  }
}

// The cotangent of each term, as often as a tile has room for it.
NAX_ENGINE void fill_seeds(void* tile, const void* seed, std::int64_t bytes, std::int64_t size);

// The usual small case: one number out of leaves that are unbroken runs over the same axes.
NAX_ENGINE bool is_flat(const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                        const DerivedLeaves& derived);
NAX_COMPILED_ONCE void sum_flat(const FusedSumType& type, const void* constants,
                                const ArrayBase* const* leaves, std::int64_t size,
                                const DerivedLeaves& derived, const void* seeds, const cpu::Reducer& reducer,
                                char* sum) {
  const cpu::PullKernel kernel = derived.one ? type.sum_one : type.pull;
  const int count = derived.count;
  const void* in[max_leaves];
  void* out[max_leaves];
  unsigned added = 0;
  for (int l = 0; l < count; ++l) {
    in[l] = raw_data(*leaves[l]);
    out[l] = derived.data[l];
    if (derived.first[l] >= 0 && derived.first[l] != l) added |= 1u << l;
  }
  // (What stores no values stops as often all the same: chains of additions must not grow long.)
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(type.fused.kernels->result)),
                     block = cpu::tile_bytes / bytes;
  cpu::Tile values;
  for (std::int64_t begin = 0, n; begin < size; begin += n) {
    n = std::min(block, size - begin);
    kernel(constants, in, seeds, out, added, values.bytes, n);
    reducer.combine(values.bytes, sum, 0, derived.one ? 1 : n);
    for (int l = 0; l < count; ++l) {
      in[l] = static_cast<const char*>(in[l]) + n * bytes;
      if (out[l]) out[l] = static_cast<char*>(out[l]) + n * bytes;
    }
  }
}

// The sums, in `result`, and the derivatives for the cotangent `seed` of each term.
NAX_COMPILED_ONCE void sum_and_derive(const FusedSumType& type, const void* constants,
                                      const ArrayBase* const* leaves, const FusedSum& sum, const Frame& frame,
                                      const DerivedLeaves& derived, const void* seed,
                                      const cpu::Reducer& reducer, const ArrayBase& result) {
  const KernelTable& table = *type.fused.kernels;
  const int count = derived.count;
  const std::int64_t sums = layout_of(result).size();
  cpu::Tile seeds;
  if (!derived.one) {
    fill_seeds(seeds.bytes, seed, static_cast<std::int64_t>(dtype_size(table.result)), frame.size());
    seed = seeds.bytes;
  }
  if (sums == 1 && is_flat(table, leaves, frame, derived)) {
    reducer.fill(raw_data(result), 1);
    sum_flat(type, constants, leaves, frame.size(), derived, seed, reducer, raw_data(result));
    return;
  }
  loops::Operand operands[2 * max_leaves + 1];
  cpu::PullAlong along{derived.one ? type.pull_one : type.pull, seed, {}, derived.any_summed};
  for (int l = 0; l < count; ++l) {
    operands[l] = operand_over(*leaves[l], frame, table.lanes[l]);
    loops::Operand& gradient = operands[count + 1 + l];
    gradient = {derived.data[l], Dims(frame.shape.size(), 0), table.lanes[l], table.lanes[l]};
    if (!derived.data[l]) continue;
    gradient.strides = strides_over(Layout::contiguous(layout_of(*leaves[l])), frame);
    along.summed[l] = derived.summed[l];
  }
  operands[count] = {raw_data(result), reduced_strides(frame, sum.marks(frame)), reducer.to, reducer.to};
  cpu::reduce(nullptr, constants, frame.shape, operands, count, sums, reducer, &along);
}

// Writes to the empty `result` the sum over the marked visible axes of `frame`, divided by `divisor`, and
// records it. Returns false where the general path must be taken.
template <class T>
[[gnu::noinline]] bool fused_sum(const FusedSumType& type, const void* constants,
                                 const ArrayBase* const* leaves, const Frame& frame, const AxisMarks& marks,
                                 bool keep, double divisor, Array<T>& result) {
  const FusedSum sum(marks, keep);
  DerivedLeaves derived;
  if (!find_derived(type, leaves, sum, frame, derived)) return false;
  const KernelTable& table = *type.fused.kernels;
  const Device device = device_for(table.name, leaves, table.leaves);
  if (on_accelerator(device)) return false;
  allocate_derivatives(table.result, leaves, frame.size(), device, derived);
  allocate_in(result, dtype_of<T>, sum.result(frame), device);
  const T seed = static_cast<T>(1 / divisor), by = static_cast<T>(divisor);
  sum_and_derive(type, constants, leaves, sum, frame, derived, &seed,
                 cpu::expression_reducer<cpu::reduce_op::Sum<T>, T>(), result);
  if (divisor != 1) {
    T* const values = reinterpret_cast<T*>(raw_data(result));
    for (std::int64_t i = 0, n = layout_of(result).size(); i < n; ++i) values[i] /= by;
  }
  ArrayAccess::serial(result) = FusedSumNode<T>::record(sum, leaves, derived.derivatives);
  return true;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/fused_sum-inl.hpp"
#endif
