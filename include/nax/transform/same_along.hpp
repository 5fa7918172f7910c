#pragma once

#include <cstring>

#include "nax/transform/sharded.hpp"

// Decides if one result may stand for all along a mapped axis, as out_axes none claims. A layout with stride
// 0, or shards that are one array, proves it; otherwise the elements are compared bit by bit. Equal operands
// and equal operations give equal bits.
NAX_BEGIN
namespace detail {

NAX_ENGINE bool same_elements(const ArrayBase& a, const ArrayBase& b);

// True if the array is constant along this axis, counted from the first hidden one.
NAX_ENGINE bool same_along(const ArrayBase& a, int axis);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE bool same_elements(const ArrayBase& a, const ArrayBase& b) {
  if (ArrayAccess::buffer(a).get() == ArrayAccess::buffer(b).get() &&
      ArrayAccess::offset(a) == ArrayAccess::offset(b) && layout_of(a).strides == layout_of(b).strides)
    return true;
  const auto readable = [](const ArrayBase& x) { return on_host(contiguous(x)); };
  const ArrayBase x = readable(a), y = readable(b);
  return std::memcmp(raw_data(x), raw_data(y), x.nbytes()) == 0;
}

NAX_ENGINE bool same_along(const ArrayBase& a, int axis) {
  const std::size_t at = static_cast<std::size_t>(axis);
  Layout layout = layout_of(a);
  const std::int64_t extent = layout.shape[at], stride = layout.strides[at];
  if (stride == 0 || extent <= 1 || layout.size() == 0) return true;
  if (ShardSource* source = axis == 0 ? shards_of(a) : nullptr) {
    for (const ArrayBase& shard : source->shards())
      if (!same_elements(source->shards()[0], shard)) return false;
    return true;
  }
  layout.take_axis(at);
  layout.levels.clear();  // hidden axes are axes like any other here
  for (std::int64_t i = 1; i < extent; ++i)
    if (!same_elements(view(a, layout), view(a, layout, i * stride))) return false;
  return true;
}

}  // namespace detail
NAX_END
#endif
