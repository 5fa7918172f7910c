#pragma once

#include "nax/expr/evaluation/packed_leaves.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame frame_of_leaves(const char* name, const PackedArray* leaves, int count) {
  Frame frame = leaves[0].layout();
  for (int l = 1; l < count; ++l) frame = broadcast(name, frame, leaves[l].layout());
  return frame;
}

NAX_ENGINE void copy_constants(const void* from, int count, void* to) {
  const std::size_t bytes = static_cast<std::size_t>(count) * constant_bytes;
  for (std::size_t i = 0; i < bytes; i += constant_bytes)
    std::memcpy(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, constant_bytes);
}

NAX_ENGINE loops::Operand leaf_operand(const PackedArray& leaf, const Frame& frame, DType stored,
                                       DType lane) {
  alignas(16) static char unread[16] = {};
  if (!leaf.buffer()) return {unread, Dims(frame.shape.size(), 0), stored, lane};
  return {leaf.data(stored), strides_over(leaf.layout(), frame), stored, lane};
}

}  // namespace detail
NAX_END
