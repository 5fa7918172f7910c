#pragma once

#include "nax/parallel/collective_blocks.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase as_block(const ArrayBase& x) {
  Layout layout = layout_of(x);
  layout.levels.clear();
  return contiguous(view(x, std::move(layout)));
}

NAX_ENGINE ArrayBase as_blocks(const ArrayBase& x, int at) {
  Layout layout = layout_of(x);
  const std::size_t i = layout.levels.size() + static_cast<std::size_t>(at);
  const std::int64_t extent = layout.shape[i], stride = layout.strides[i];
  layout.shape.erase(i), layout.strides.erase(i);
  layout.shape.insert(0, extent), layout.strides.insert(0, stride);
  layout.levels.clear();
  return contiguous(view(x, std::move(layout)));
}

NAX_ENGINE ArrayBase from_block(const ArrayBase& block, const Levels& levels) {
  Layout layout = layout_of(block);
  layout.levels = levels;
  return view(block, std::move(layout));
}

NAX_ENGINE ArrayBase from_blocks(const ArrayBase& blocks, const Levels& levels) {
  Layout layout = layout_of(blocks);
  const std::int64_t extent = layout.shape[0], stride = layout.strides[0];
  layout.shape.erase(0), layout.strides.erase(0);
  layout.shape.insert(levels.size(), extent), layout.strides.insert(levels.size(), stride);
  layout.levels = levels;
  return view(blocks, std::move(layout));
}

}  // namespace detail
NAX_END
