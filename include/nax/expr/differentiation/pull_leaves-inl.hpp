#pragma once

#include "nax/expr/differentiation/pull_leaves.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
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
    // The derivative does not use a leaf that was not kept; the cotangent's memory takes its place, where it
    // has as many bytes as a kernel may load.
    if (!leaf.buffer() && dtype_size(table.stored[l]) > dtype_size(g.dtype())) return false;
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

NAX_ENGINE bool has_nan(const ArrayBase& a) {
  const std::int64_t n = layout_of(a).size();
  return a.dtype() == DType::float32   ? cpu::holds_nan(reinterpret_cast<const float*>(raw_data(a)), n)
         : a.dtype() == DType::float64 ? cpu::holds_nan(reinterpret_cast<const double*>(raw_data(a)), n)
                                       : false;
}

}  // namespace detail
NAX_END
