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
  layout.move_axis(layout.levels.size() + static_cast<std::size_t>(at), 0);
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
  layout.move_axis(0, levels.size());
  layout.levels = levels;
  return view(blocks, std::move(layout));
}

}  // namespace detail
NAX_END
