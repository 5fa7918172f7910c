#pragma once

#include <new>
#include <optional>

#include "nax/expr/pull_on_device.hpp"
#include "nax/expr/sum_axes.hpp"
#include "nax/tape/packed_array.hpp"

// The backward pass of a fused expression: one pass of its kernel gives all leaves their gradients. And the
// forward one: the Jacobian is diagonal, so a leaf's share in the cotangent t is what a tangent t of that
// leaf adds to the result's.
namespace nax::detail {

// A leaf as the kernel reads it over `frame`; one whose value no derivative needs is anything.
inline cpu::Operand leaf_operand(const PackedArray& leaf, const Frame& frame, DType stored, DType lane) {
  alignas(16) static char unread[16] = {};
  if (!leaf.buffer()) return {unread, Dims(frame.shape.size(), 0), stored, lane};
  return {leaf.data(stored), strides_over(leaf.layout(), frame), stored, lane};
}

// The cotangent that a node has so far, where a kernel may add to it in place.
inline ArrayBase* addable(Reverse& sweep, std::size_t node, DType lane, const Frame& frame) {
  ArrayBase* sum = sweep.at(node);
  return sum && sum->dtype() == lane && layout_of(*sum) == frame && is_exclusive(*sum) ? sum : nullptr;
}

// Handles for leaf after leaf, which hold nothing until they are given arrays.
class LeafArrays {
 public:
  explicit LeafArrays(int count) : count_(count) {
    for (int l = 0; l < count_; ++l) new (bytes_[l].at) ArrayBase(ArrayAccess::unset());
  }
  ~LeafArrays() {
    for (int l = 0; l < count_; ++l) (*this)[l].~ArrayBase();
  }
  LeafArrays(const LeafArrays&) = delete;
  LeafArrays& operator=(const LeafArrays&) = delete;
  ArrayBase& operator[](int l) { return *std::launder(reinterpret_cast<ArrayBase*>(bytes_[l].at)); }

 private:
  struct Bytes {
    alignas(ArrayBase) unsigned char at[sizeof(ArrayBase)];
  };
  Bytes bytes_[max_leaves];
  int count_;
};

// Buffers of new gradients, leaf by leaf, until the sweep takes them.
struct NewGradients {
  Buffer* at[max_leaves];
  int count = 0;
  ~NewGradients() {
    for (int l = 0; l < count; ++l)
      if (at[l]) BufferRef{at[l]};
  }
  BufferRef take(int l) { return BufferRef(std::exchange(at[l], nullptr)); }
};

// The usual small case: every leaf and the cotangent are unbroken runs over the same axes.
inline bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
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

// ---- where each value has many tangents or cotangents, as Jacobians and Hessians bring them in hidden axes:
// the derivative is computed once for each value, and multiplies each of them

inline bool has_many(const KernelTable& table, const Frame& own, const Frame& all) {
  constexpr std::int64_t many = 4, few_elements = 4096;
  return all.size() > few_elements && all.size() >= many * own.size() && table.result == table.result_lane &&
         (table.result == DType::float32 || table.result == DType::float64);
}

// One pass of the kernel over `own`: derivatives[l] = that of the result in leaf l, where wanted(l) (the same
// for leaves that are one).
inline void derivatives_of(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                           const PackedArray* leaves, const Frame& own, ArrayBase* derivatives,
                           FunctionRef<bool(int)> wanted) {
  const int count = table.leaves;
  const DType lane = table.result_lane;
  alignas(16) char one[16];
  if (lane == DType::float32)
    new (one) float(1);
  else
    new (one) double(1);
  cpu::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves] = {};
  for (int l = 0; l < count; ++l) {
    operands[l] = leaf_operand(leaves[l], own, table.stored[l], table.lanes[l]);
    operands[count + 1 + l] = {nullptr, Dims(own.shape.size(), 0), table.lanes[l], table.lanes[l]};
    if (!wanted(l)) continue;
    const int first = first_occurrence(leaves, l);
    derivatives[l] = first == l ? allocate(lane, own) : derivatives[first];
    operands[count + 1 + l].data = raw_data(derivatives[l]);
    operands[count + 1 + l].strides = layout_of(derivatives[l]).strides;
    sizes[l] = own.size();
  }
  operands[count] = {one, Dims(own.shape.size(), 0), lane, lane};
  cpu::pull(kernel, constants, own.shape, operands, sizes, 0, count);
}

// sum + t d, of a sum that may be yet to come.
template <class T>
void add_scaled_of(ArrayBase& sum, const ArrayBase& t, const ArrayBase& d) {
  if (!ArrayAccess::buffer(sum)) {
    sum = evaluate(make_expr<rules::scale>(Array<T>(t), Array<T>(d)));
  } else {
    Array<T> total(std::exchange(sum, ArrayBase()));
    const auto next = make_expr<rules::add_scaled>(total, Array<T>(t), Array<T>(d));
    assign(total, next);
    sum = std::move(total);
  }
}

inline void add_scaled(ArrayBase& sum, const ArrayBase& t, const ArrayBase& d) {
  if (d.dtype() == DType::float32)
    add_scaled_of<float>(sum, t, d);
  else
    add_scaled_of<double>(sum, t, d);
}

// False, and nothing done, where a leaf's gradient is summed over axes that the leaf lacks.
[[gnu::noinline]] inline bool pull_many(const KernelTable& table, cpu::PullKernel kernel,
                                        const void* constants, const PackedArray* leaves, const ArrayBase& g,
                                        const Frame& own, const Frame& all, Reverse& sweep) {
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

[[gnu::noinline]] inline ArrayBase push_many(const KernelTable& table, cpu::PullKernel kernel,
                                             const void* constants, const PackedArray* leaves,
                                             const ArrayBase* const* tangents, const Frame& own) {
  ArrayBase derivatives[max_leaves];
  derivatives_of(table, kernel, constants, leaves, own, derivatives,
                 [&](int l) { return tangents[l] != nullptr; });
  ArrayBase sum;
  for (int l = 0; l < table.leaves; ++l)
    if (tangents[l] && first_occurrence(leaves, l) == l) add_scaled(sum, *tangents[l], derivatives[l]);
  return sum;
}

// ---- in general

// One pass of the fused kernel: every wanted leaf gets its share of g.
[[gnu::noinline]] inline void pull_leaves(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                                          const void* constants, const PackedArray* leaves,
                                          const ArrayBase& g, Reverse& sweep) {
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

// The tangent of the result over `own` and the tangents' hidden axes, with `tangents[l]` null where it is
// zero; at least one is not. One pass of the kernel for each array among the leaves. Nothing where the kernel
// mixes types.
[[gnu::noinline]] inline std::optional<ArrayBase> push_leaves(const char* name, const KernelTable& table,
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
  return as_dtype(result, table.result);
}

}  // namespace nax::detail
