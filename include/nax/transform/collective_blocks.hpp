#pragma once

#include "nax/collective/axis_environment.hpp"
#include "nax/numpy/views/copy.hpp"

// Arrays as communicators that send blocks take them: plain and row-major, with the axis that counts the
// blocks in front, and back. Hidden axes lie within a block, and each device numbers them for itself.
namespace nax::inline NAX_ABI::detail {

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

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

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

}  // namespace nax::inline NAX_ABI::detail
#endif
