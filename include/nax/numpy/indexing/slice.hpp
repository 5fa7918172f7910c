#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "nax/core/layout.hpp"
#include "nax/core/none.hpp"

// Arguments of a(...) besides integers and arrays.
NAX_BEGIN

// `_`: a whole axis, or an open end of a slice.
struct Underscore {};
inline constexpr Underscore _{};

// An axis of extent 1 that the array has not.
struct NewAxis {};
inline constexpr NewAxis newaxis{};

// As many whole axes as are left.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

// An end of a slice: an integer, or `_` or `none` for the array's own.
struct SliceBound {
  std::int64_t value = 0;
  bool open = true;
  constexpr SliceBound() = default;
  constexpr SliceBound(Underscore) {}
  constexpr SliceBound(None) {}
  template <std::integral I>
  constexpr SliceBound(I i) : value(static_cast<std::int64_t>(i)), open(false) {}
};

struct Slice {
  SliceBound start, stop, step;
};

// Python's slice: from start up to but without stop; negative ends count from the back.
constexpr Slice slice(SliceBound stop) { return {{}, stop, {}}; }
constexpr Slice slice(SliceBound start, SliceBound stop, SliceBound step = {}) { return {start, stop, step}; }

namespace detail {

struct SliceRange {
  std::int64_t start, step, count;
};

// The positions that a slice takes on an axis, as Python's slice.indices has them.
NAX_ENGINE SliceRange resolve(const Slice& s, std::int64_t extent);

[[noreturn, gnu::cold]] NAX_ENGINE void throw_index(const char* function, std::int64_t index, int axis,
                                                    std::int64_t extent);
inline std::int64_t resolve(const char* function, std::int64_t index, int axis, std::int64_t extent) {
  if (index < -extent || index >= extent) throw_index(function, index, axis, extent);
  return index < 0 ? index + extent : index;
}
[[noreturn, gnu::cold]] inline void throw_too_many(const Frame& x, int given) {
  raise<IndexError>({"index: too many indices for array: array is ", x.ndim(), "-dimensional, but ", given,
                     " were indexed, shape ", x.visible_shape()});
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE SliceRange resolve(const Slice& s, std::int64_t extent) {
  std::int64_t step = s.step.open ? 1 : s.step.value;
  if (step == 0) throw ValueError("index: slice step cannot be zero");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const auto clamp = [&](const SliceBound& bound, std::int64_t otherwise) {
    if (bound.open) return otherwise;
    const std::int64_t i = bound.value < 0 ? bound.value + extent : bound.value;
    return i < low ? low : i > high ? high : i;
  };
  const std::int64_t start = clamp(s.start, step > 0 ? low : high),
                     stop = clamp(s.stop, step > 0 ? high : low);
  std::int64_t count = 0;
  if (step > 0 && stop > start) count = (stop - start - 1) / step + 1;
  if (step < -extent) step = -extent - 1;  // takes one at most, as any longer step (and can be negated)
  if (step < 0 && stop < start) count = (start - stop - 1) / -step + 1;
  if (count <= 1) step = step < 0 ? -1 : 1;  // goes nowhere: no product with a stride overflows
  return {start, step, count};
}

NAX_ENGINE void throw_index(const char* function, std::int64_t index, int axis, std::int64_t extent) {
  raise<IndexError>(
      {function, ": index ", index, " is out of bounds for axis ", axis, " with size ", extent});
}

}  // namespace detail
NAX_END
#endif
