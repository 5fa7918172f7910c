#pragma once

#include "nax/program/record/recording.hpp"

// How operands of maps walk the elements of a shape. In shapes of groups no axis has extent 1.
NAX_BEGIN
namespace program::detail {

using nax::detail::is_repeated, nax::detail::is_run;

inline std::int64_t size_of(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}
// Is it all of a slot of so many bytes, in the order of its memory?
inline bool is_all(const Operand& x, std::size_t bytes) {
  return x.place.slot >= 0 && x.place.offset == 0 && is_run(x.strides, x.shape) &&
         static_cast<std::size_t>(size_of(x.shape)) * dtype_size(x.dtype) == bytes;
}
inline Dims without_ones(const Dims& shape, const Dims& dims) {
  Dims kept;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1) kept.push_back(dims[axis]);
  return kept;
}

// An operand as a group of some shape walks it.
struct Walked {
  Place place;
  DType dtype;
  Dims strides;
  bool operator==(const Walked&) const = default;
};
inline Walked walk(const Dims& shape, const Operand& x) {
  if (is_repeated(x.strides, x.shape) && size_of(x.shape) > 1)
    return {x.place, x.dtype, Dims(shape.size(), 0)};
  if (is_run(x.strides, x.shape)) return {x.place, x.dtype, Layout::row_major(shape)};
  return {x.place, x.dtype, without_ones(x.shape, x.strides)};
}

}  // namespace program::detail
NAX_END
