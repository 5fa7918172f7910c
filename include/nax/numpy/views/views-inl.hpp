#pragma once

#include "nax/numpy/views/views.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Layout hidden_part(const Layout& layout) {
  Layout out;
  out.levels = layout.levels;
  const std::size_t n = layout.levels.size();
  out.shape.append(layout.shape.begin(), layout.shape.begin() + n);
  out.strides.append(layout.strides.begin(), layout.strides.begin() + n);
  return out;
}

NAX_ENGINE ArrayBase sub_array(const ArrayBase& x, Layout&& layout, std::int64_t extra_offset) {
  ArrayBase a;
  ArrayAccess::buffer(a) = ArrayAccess::buffer(x);
  ArrayAccess::offset(a) = ArrayAccess::offset(x) + extra_offset;
  ArrayAccess::layout(a) = std::move(layout);
  ArrayAccess::dtype(a) = x.dtype();
  return a;
}

NAX_ENGINE Frame with_visible(const Frame& x, const Dims& visible) {
  Frame frame;
  frame.levels = x.levels;
  frame.shape.append(x.shape.begin(), x.shape.begin() + x.hidden());
  frame.shape.append(visible.begin(), visible.end());
  return frame;
}

}  // namespace detail
NAX_END
