#pragma once

#include "nax/expr/differentiation/sum_axes.hpp"
#include "nax/expr/evaluation/as_dtype.hpp"
#include "nax/expr/evaluation/packed_leaves.hpp"

// The backward and the forward pass of a fused expression on a GPU. A leaf that was broadcast gets its share
// over all axes first, which is then summed like any array: no thread waits for another, and the sum's order
// is always the same.
NAX_BEGIN
namespace detail {

// One launch of the backward kernel over `all`. `gradients`: a row-major array over `all` for each leaf that
// gets a share, the same for leaves that share one; null for the others.
class DevicePullLaunch {
 public:
  DevicePullLaunch(const KernelTable& table, const void* constants, const PackedArray* leaves,
                   const Frame& all, const ArrayBase& g);
  DType gradient_dtype(int l) const {
    return dtype_size(table_.stored[l]) == 2 ? DType::float32 : table_.stored[l];
  }
  void want(int l, const ArrayBase& gradient, bool add) {
    loops::Operand& operand = operands_[table_.leaves + 1 + l];
    operand.data = device_data(gradient);
    operand.strides = layout_of(gradient).strides;
    if (add) added_ |= 1u << l;
  }
  void run() {
    if (!table_.device->pull) throw_no_kernel(table_.name, device_);
    for (std::int64_t extent : shape_)
      if (extent == 0) return;
    loops::collapse(shape_, operands_, 2 * table_.leaves + 1);
    table_.device->pull(device_, constants_, shape_, operands_, added_);
  }

 private:
  const KernelTable& table_;
  const void* constants_;
  Device device_;
  Dims shape_;
  loops::Operand operands_[2 * max_leaves + 1];
  ArrayBase numbers_[max_leaves], held_;
  unsigned added_ = 0;
};

// Sums a full-size gradient down to the leaf's shape.
NAX_ENGINE ArrayBase share_summed(const ArrayBase& share, const Frame& leaf, const Frame& own);

[[gnu::cold]] NAX_COMPILED_ONCE void pull_on_device(const char* name, const KernelTable& table,
                                                    cpu::PullKernel, const void* constants,
                                                    const PackedArray* leaves, const ArrayBase& g,
                                                    Reverse& sweep) {
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  DevicePullLaunch launch(table, constants, leaves, all, g);
  ArrayBase shares[max_leaves];
  std::size_t nodes[max_leaves];
  for (int l = 0; l < count; ++l) {
    nodes[l] = sweep.place(leaves[l].serial());
    if (nodes[l] == Tape::npos) continue;
    const int first = first_occurrence(leaves, l);
    if (first == l) shares[l] = allocate(launch.gradient_dtype(l), all, g.device());
    launch.want(l, shares[first], first != l);
  }
  launch.run();
  for (int l = 0; l < count; ++l)
    if (ArrayAccess::buffer(shares[l]))
      sweep.add_at(nodes[l], as_dtype(share_summed(shares[l], leaves[l].layout(), own), table.stored[l]));
}

// The tangent of the result over `all`: one pass of the kernel for each array among the leaves.
[[gnu::cold]] NAX_COMPILED_ONCE ArrayBase push_on_device(const KernelTable& table, cpu::PullKernel,
                                                         const void* constants, const PackedArray* leaves,
                                                         const ArrayBase* const* tangents, const Frame& all) {
  const int count = table.leaves;
  ArrayBase result;
  unsigned done = 0;
  for (int first = 0; first < count; ++first) {
    if (!tangents[first] || done >> first & 1) continue;
    const bool present = static_cast<bool>(ArrayAccess::buffer(result));
    const ArrayBase t = as_dtype(*tangents[first], table.result);
    if (!present) result = allocate(table.result_lane, all, t.device());
    DevicePullLaunch launch(table, constants, leaves, all, t);
    bool again = present;
    for (int l = first; l < count; ++l) {
      if (!tangents[l] || leaves[l].serial() != leaves[first].serial()) continue;
      launch.want(l, result, again);
      again = true;
      done |= 1u << l;
    }
    launch.run();
  }
  return as_dtype(result, table.result);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/pull_on_device-inl.hpp"
#endif
