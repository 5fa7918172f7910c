#pragma once

#include "nax/core/axis.hpp"
#include "nax/numpy/views/copy.hpp"

// Shared by view-like functions. They change the visible axes, keep the hidden prefix as it is, and are
// linear: their derivative is a view again, or the copy that undoes one.
NAX_BEGIN
namespace detail {

// The hidden part of a layout, to which a function appends its visible axes.
NAX_ENGINE Layout hidden_part(const Layout& layout);
inline void append_axis(Layout& layout, std::int64_t extent, std::int64_t stride) {
  layout.shape.push_back(extent);
  layout.strides.push_back(stride);
}
inline std::int64_t visible_stride(const Layout& layout, int axis) {
  return layout.strides[static_cast<std::size_t>(layout.hidden() + axis)];
}

// Some of x's elements under a layout of their own; not recorded. (`view` copies the layout of x first.)
NAX_ENGINE ArrayBase sub_array(const ArrayBase& x, Layout&& layout, std::int64_t extra_offset);

// The frame of an array with x's hidden axes and these visible ones.
NAX_ENGINE Frame with_visible(const Frame& x, const Dims& visible);

// A view of x, recorded where x is: `pull` and `push` are views or copies of a cotangent and of a tangent.
template <class T, class Pull, class Push>
Array<T> record_view(const Array<T>& x, Layout layout, std::int64_t offset, const Pull& pull,
                     const Push& push) {
  Array<T> result = typed<T>(view(x, std::move(layout), offset));
  if constexpr (is_inexact_v<T>) {
    if (may_be_recorded(x)) return record(std::move(result), wrt(x, pull, push));
  }
  return result;
}

template <class Pull, class Push>
ArrayBase record_view(const ArrayBase& x, Layout layout, std::int64_t offset, const Pull& pull,
                      const Push& push) {
  ArrayBase result = view(x, std::move(layout), offset);
  if (may_be_recorded(x)) result = record(std::move(result), wrt(x, pull, push));
  return result;
}

// An operand of any kind as an array; a C++ number becomes 0-d, of its kind's default type.
template <Operand X>
auto as_array(const X& x) {
  if constexpr (Scalar<X>)
    return Array<default_type_t<X>>(x);
  else
    return Array<typename X::value_type>(x);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
