#pragma once

#include "nax/numpy/indexing/slice.hpp"

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
