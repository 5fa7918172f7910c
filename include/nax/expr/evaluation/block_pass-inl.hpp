#pragma once

#include "nax/expr/evaluation/block_pass.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void BlockPass::run(std::int64_t begin, std::int64_t end) const {
  cpu::Tile tiles[most_tiles];
  const std::int64_t block = block_bytes / widest_;
  for (int t = 0; t < tile_count_; ++t) tiles_[t].fill(tiles[t].bytes, std::min(block, end - begin));
  const auto address = [&](const Place& p) -> char* {
    return p.tile < 0 ? p.data + begin * p.element : tiles[p.tile].bytes;
  };
  for (std::int64_t n; begin < end; begin += n) {
    n = std::min(block, end - begin);
    for (int o = 0; o < count_; ++o) {
      const Operation& operation = operations_[o];
      const void* in[max_leaves];
      for (int l = 0; l < operation.leaves; ++l) in[l] = address(operation.in[l]);
      operation.kernel(&operation.constants, in, address(operation.out), n);
    }
  }
}

NAX_ENGINE bool BlockPass::find_leaf(const ArrayBase& leaf, const Frame& frame, Place& place) {
  const Layout& layout = layout_of(leaf);
  place = {nullptr, tile_of(leaf), static_cast<std::int64_t>(dtype_size(leaf.dtype()))};
  const bool whole = layout == frame && layout.is_contiguous();
  if (place.tile >= 0) return whole;
  if (whole) {
    place.data = raw_data(leaf);
    return true;
  }
  if (layout.size() != 1 || tile_count_ == most_tiles) return false;
  TileUse& use = tiles_[place.tile = tile_count_++];
  use.number_bytes = dtype_size(leaf.dtype());
  std::memcpy(&use.number, raw_data(leaf), use.number_bytes);
  return true;
}

NAX_ENGINE bool BlockPass::find_target(bool fresh, const KernelTable& table, const ArrayBase* const* leaves,
                                       const Frame& frame, const ArrayBase& target, Place& place) {
  place = {nullptr, tile_of(target), static_cast<std::int64_t>(dtype_size(table.result))};
  if (place.tile >= 0) return layout_of(target) == frame;
  if (fresh) {
    if (tile_count_ == most_tiles) return false;
    tiles_[place.tile = tile_count_++].array = ArrayAccess::buffer(target);
    return true;
  }
  if (!is_in_place(table, leaves, frame, target)) return false;
  place.data = raw_data(target);
  return true;
}

}  // namespace detail
NAX_END
