#pragma once

#include <new>
#include <utility>

#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/tape/packed_array.hpp"
#include "nax/tape/sweep.hpp"

// The leaves of an expression as a node of the tape keeps them, and where their gradients go: what all ways
// of pulling and pushing through a fused expression share.
NAX_BEGIN
namespace detail {

NAX_ENGINE Frame frame_of_leaves(const char* name, const PackedArray* leaves, int count);

// The leaf before l that is the same array, or l itself: they share a gradient.
template <class Leaf>
int first_occurrence(const Leaf* leaves, int l) {
  for (int k = 0; k < l; ++k)
    if (leaves[k].serial() == leaves[l].serial()) return k;
  return l;
}
template <class Leaf>
Watchers watchers_of(const Leaf* leaves, int count, const Tape& tape) {
  Watchers all = 0;
  for (int l = 0; l < count; ++l) all |= tape.watchers(leaves[l].serial());
  return all;
}

// A node's constants, as they follow it. (Slot by slot: a call would take longer.)
NAX_ENGINE void copy_constants(const void* from, int count, void* to);

// A leaf as the kernel reads it over `frame`; unspecified where no derivative needs the value.
NAX_ENGINE loops::Operand leaf_operand(const PackedArray& leaf, const Frame& frame, DType stored, DType lane);

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
  const ArrayBase& operator[](int l) const {
    return *std::launder(reinterpret_cast<const ArrayBase*>(bytes_[l].at));
  }

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

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
