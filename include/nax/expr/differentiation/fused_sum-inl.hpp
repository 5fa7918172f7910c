#pragma once

#include "nax/expr/differentiation/fused_sum.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool are_one(const ArrayBase* const* leaves, int count) {
  for (int l = 1; l < count; ++l)
    if (serial_of(*leaves[l]) != serial_of(*leaves[0])) return false;
  return true;
}

NAX_ENGINE bool has_all_kept(const Frame& leaf, const FusedSum& sum, const Frame& frame) {
  if (!(leaf.levels == frame.levels)) return false;
  if (sum.whole()) return true;
  const int missing = frame.ndim() - leaf.ndim();
  for (int axis = 0; axis < frame.ndim(); ++axis)
    if (!sum.sums(axis) && frame.visible(axis) != 1 &&
        (axis < missing || leaf.visible(axis - missing) != frame.visible(axis)))
      return false;
  return true;
}

NAX_ENGINE void fill_seeds(void* tile, const void* seed, std::int64_t bytes, std::int64_t size) {
  const std::int64_t n = std::min(cpu::tile_bytes / bytes, size);
  if (bytes == 4) {
    std::uint32_t bits;
    std::memcpy(&bits, seed, sizeof bits);
    std::fill_n(static_cast<std::uint32_t*>(tile), n, bits);
  } else {
    std::uint64_t bits;
    std::memcpy(&bits, seed, sizeof bits);
    std::fill_n(static_cast<std::uint64_t*>(tile), n, bits);
  }
}

NAX_ENGINE bool is_flat(const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                        const DerivedLeaves& derived) {
  if (frame.size() > cpu::detail::parallel_grain) return false;
  for (int l = 0; l < derived.count; ++l) {
    const ArrayBase& leaf = *leaves[l];
    if (leaf.dtype() != table.result || table.lanes[l] != table.result ||
        !(layout_of(leaf).shape == frame.shape) || !layout_of(leaf).is_contiguous())
      return false;
  }
  return true;
}

}  // namespace detail
NAX_END
