#pragma once

#include "nax/numpy/views/copy.hpp"
#include "nax/parallel/axis_environment.hpp"

// Arrays as communicators that send blocks take them: plain and row-major, with the axis that counts the
// blocks in front, and back. Hidden axes lie within a block, and each device numbers them for itself.
NAX_BEGIN
namespace detail {

inline BlockCommunicator* blocks_of(const MappedAxis& axis) {
  return axis.on_devices ? axis.communicator().blocks() : nullptr;
}

// One block of all of x.
NAX_ENGINE ArrayBase as_block(const ArrayBase& x);
// The blocks are those along visible axis `at`.
NAX_ENGINE ArrayBase as_blocks(const ArrayBase& x, int at);

// Hidden axes have their levels again.
NAX_ENGINE ArrayBase from_block(const ArrayBase& block, const Levels& levels);
// Joins blocks over several levels, whose axis becomes the first visible one.
NAX_ENGINE ArrayBase from_blocks(const ArrayBase& blocks, const Levels& levels);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
