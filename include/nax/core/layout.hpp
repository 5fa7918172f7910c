#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "nax/core/shape.hpp"

// How elements lie in a buffer.
//
// An array has hidden axes, then visible ones. Each hidden axis belongs to one vmap, known by its level: a
// number that grows with every vmap entered and never repeats. Hidden axes lead, ordered by level, so that
// two operands align them by a merge; what an operand lacks is a stride of 0. Users only ever see the visible
// axes.
NAX_BEGIN

using Level = std::uint64_t;
using Levels = SmallVector<Level, 2>;
using AxisMarks = SmallVector<bool, 16>;  // axis by axis: is it meant?

// The axes of an array or of an expression: shape.size() == levels.size() + visible rank.
struct Frame {
  Dims shape;
  Levels levels;

  int hidden() const { return static_cast<int>(levels.size()); }
  int ndim() const { return static_cast<int>(shape.size()) - hidden(); }
  std::int64_t visible(int axis) const { return shape[static_cast<std::size_t>(hidden() + axis)]; }
  Shape visible_shape() const { return Shape(shape.begin() + hidden(), shape.end()); }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
  }
  int find(Level level) const {
    for (int i = 0; i < hidden(); ++i)
      if (levels[static_cast<std::size_t>(i)] == level) return i;
    return -1;
  }
  friend bool operator==(const Frame& a, const Frame& b) {
    return a.shape == b.shape && a.levels == b.levels;
  }
};

struct Layout : Frame {
  Dims strides;  // in elements

  static Dims row_major(const Dims& shape) {
    Dims strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
  }
  // True if no part of it is on the heap.
  bool lies_in_place() const {
    return shape.lies_in_place() && levels.lies_in_place() && strides.lies_in_place();
  }
  // Copies and moves to a layout that has nothing on the heap, all at once.
  void copy_block(const Layout& other) {
    if (other.lies_in_place())
      std::memcpy(static_cast<void*>(this), &other, sizeof other);
    else
      copy_apart(other);
  }
  [[gnu::cold, gnu::noinline]] void copy_apart(const Layout& other) { *this = other; }
  [[gnu::cold, gnu::noinline]] void move_apart(Layout& other) noexcept { *this = std::move(other); }
  void move_block(Layout& other) {
    std::memcpy(static_cast<void*>(this), &other, sizeof other);
    new (&other) Layout;
  }
  void clear() {
    shape.clear();
    levels.clear();
    strides.clear();
  }
  // Drops an axis, counted from the first hidden one, and returns its stride. Levels stay as they are.
  std::int64_t take_axis(std::size_t axis) {
    const std::int64_t stride = strides[axis];
    shape.erase(axis), strides.erase(axis);
    return stride;
  }
  // Axis `from` becomes axis `to`; both are counted from the first hidden one. Levels stay as they are.
  void move_axis(std::size_t from, std::size_t to) {
    const std::int64_t extent = shape[from], stride = take_axis(from);
    shape.insert(to, extent), strides.insert(to, stride);
  }
  // Becomes the row-major layout over `frame`; the number of elements. Throws ValueError where they are too
  // many: what its function did not check before.
  std::int64_t make_row_major(const Frame& frame);
  static Layout contiguous(Frame frame) {
    Dims strides = row_major(frame.shape);
    return {std::move(frame), std::move(strides)};
  }
  bool is_contiguous() const;
};

namespace detail {

[[noreturn, gnu::cold]] inline void throw_broadcast(const char* function, const Frame& a, const Frame& b) {
  raise<ShapeError>({function, ": operands could not be broadcast together with shapes ", a.visible_shape(),
                     " ", b.visible_shape()});
}

// NumPy's broadcasting over visible axes, a merge by level over hidden ones.
NAX_ENGINE Frame broadcast(const char* function, const Frame& a, const Frame& b);

// Strides with which an array of layout `from` is read over the axes of `to` (which it broadcasts to).
NAX_ENGINE Dims strides_over(const Layout& from, const Frame& to);

// The offset, with these strides, of a row-major position over these extents.
inline std::int64_t offset_at(std::int64_t position, const Dims& shape, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    offset += position % shape[axis] * strides[axis];
  return offset;
}

// Whether elements with these strides lie side by side in row-major order.
inline bool is_run(const Dims& strides, const Dims& shape) {
  std::int64_t next = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; next *= shape[axis])
    if (shape[axis] != 1 && strides[axis] != next) return false;
  return true;
}
// Whether they are all one element.
inline bool is_repeated(const Dims& strides, const Dims& shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && strides[axis] != 0) return false;
  return true;
}

// Marks over the visible axes as marks over all axes of a frame: no hidden axis is meant.
NAX_ENGINE AxisMarks over_frame(const AxisMarks& visible, const Frame& frame);

NAX_ENGINE Levels merge_levels(const Levels& a, const Levels& b);

NAX_ENGINE bool contains(const Levels& levels, Level level);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/layout-inl.hpp"
#endif
