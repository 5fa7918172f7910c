#pragma once

#include "nax/backend/cpu/maps/transpose.hpp"

NAX_BEGIN
namespace cpu {

NAX_ENGINE std::pair<std::int64_t, std::int64_t> CopyAxes::offsets(std::int64_t index, int skip) const {
  std::int64_t to_offset = 0, from_offset = 0;
  for (int axis = count - skip; axis-- > 0;) {
    const std::int64_t i = index % shape[axis];
    index /= shape[axis];
    to_offset += i * to[axis];
    from_offset += i * from[axis];
  }
  return {to_offset, from_offset};
}

NAX_ENGINE bool normalise(CopyAxes& axes, std::int64_t& to_offset, std::int64_t& from_offset) {
  for (int axis = axes.count; axis-- > 0;) {
    if (axes.shape[axis] <= 0) return false;
    if (axes.shape[axis] == 1) {
      axes.remove(axis);
      continue;
    }
    // A source that runs backward along an axis is transposed as one that runs forward.
    if (axes.to[axis] < 0 || (axes.from[axis] == -1 && axes.to[axis] != 1)) {
      to_offset += (axes.shape[axis] - 1) * axes.to[axis];
      from_offset += (axes.shape[axis] - 1) * axes.from[axis];
      axes.to[axis] = -axes.to[axis];
      axes.from[axis] = -axes.from[axis];
    }
  }
  for (int axis = 1; axis < axes.count; ++axis)  // few axes, mostly in order
    for (int at = axis; at > 0 && std::abs(axes.to[at - 1]) < std::abs(axes.to[at]); --at)
      axes.exchange(at - 1, at);
  for (int axis = axes.count - 1; axis > 0; --axis)
    if (axes.to[axis - 1] == axes.to[axis] * axes.shape[axis] &&
        axes.from[axis - 1] == axes.from[axis] * axes.shape[axis]) {
      axes.shape[axis] *= axes.shape[axis - 1];
      axes.remove(axis - 1);
    }
  return true;
}

NAX_ENGINE const CopyLoops& copy_loops_of(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_loops<Unit8>;
    case 2:
      return copy_loops<Unit16>;
    case 4:
      return copy_loops<Unit32>;
    case 8:
      return copy_loops<Unit64>;
    case 16:
      return copy_loops<Unit128>;
    default:
      raise<TypeError>({"copy: elements of ", element_bytes, " bytes are not supported"});
  }
}

NAX_ENGINE void strided_copy(std::size_t element_bytes, int ndim, const std::int64_t* shape, void* to,
                             const std::int64_t* to_strides, const void* from,
                             const std::int64_t* from_strides) {
  if (ndim > CopyAxes::most)
    raise<ShapeError>({"copy: at most ", CopyAxes::most, " axes are possible, not ", ndim});
  CopyAxes axes;
  for (int axis = 0; axis < ndim; ++axis) axes.add(shape[axis], to_strides[axis], from_strides[axis]);
  std::int64_t to_offset = 0, from_offset = 0;
  if (!normalise(axes, to_offset, from_offset)) return;
  const CopyLoops& loops = copy_loops_of(static_cast<std::int64_t>(element_bytes));
  copy_axes(loops, axes, static_cast<char*>(to) + to_offset * loops.bytes,
            static_cast<const char*>(from) + from_offset * loops.bytes);
}

}  // namespace cpu
NAX_END
