#pragma once

#include "nax/numpy/views/views.hpp"

// Functions that keep the order of the elements and change the axes they are counted by.
NAX_BEGIN
namespace detail {

// The shape asked for, its -1 worked out. Throws where the number of elements differs.
NAX_ENGINE Dims resolve_shape(const char* function, const Dims& from, const Dims& to);

// Appends strides that read the visible axes of `from` by `shape` (of as many elements); false where no
// strides do.
NAX_ENGINE bool append_reshaped(Layout& out, const Layout& from, const Dims& shape);

// A copy that repeats no example: hidden axes of stride 0 stay so.
NAX_ENGINE ArrayBase compact(const ArrayBase& x);

NAX_ENGINE ArrayBase reshape_to(const char* function, const ArrayBase& x, const Dims& to);
template <class T>
Array<T> reshape_to(const char* function, const Array<T>& x, const Dims& to) {
  return typed<T>(reshape_to(function, handle_of(x), to));
}

}  // namespace detail

// The elements in row-major order under another shape, one extent of which may be -1. A view where strides
// allow it. Throws ShapeError if the number of elements differs, and ValueError if several extents are -1.
template <detail::ArrayLike X>
auto reshape(const X& x, const Shape& shape) {
  return detail::reshape_to("reshape", detail::materialise(x), shape);
}
template <class Element>
Array<Element> Array<Element>::reshape(const Shape& shape) const {
  return detail::reshape_to("reshape", *this, shape);
}

// 1-d. Throws ValueError for a moved-from array.
template <detail::ArrayLike X>
auto ravel(const X& x) {
  return detail::reshape_to("ravel", detail::materialise(x), Shape{x.size()});
}
// The elements in row-major order, as a 1-d array. Throws ValueError for a moved-from array.
template <detail::ArrayLike X>
auto flatten(const X& x) {
  return detail::reshape_to("flatten", detail::materialise(x), Shape{x.size()});
}

struct SqueezeOptions {
  Axis axis = {};  // all axes of extent 1 when not given
};
// A view of the shape of x without axes of extent 1, of all of them or of those named. Throws ValueError
// where an axis named has another extent.
template <detail::ArrayLike X>
auto squeeze(const X& x_, const SqueezeOptions& options = {}) {
  const auto& x = detail::materialise(x_);
  const Shape shape = x.shape();
  const Dims axes = detail::normalize_axes("squeeze", options.axis, x.ndim());
  Dims out;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    bool named = false;
    for (std::int64_t a : axes) named = named || a == axis;
    if (named && options.axis.given() && shape[axis] != 1)
      raise<ValueError>(
          {"squeeze: cannot select an axis to squeeze out which has size not equal to one: axis ", axis,
           " of shape ", shape});
    if (!named || shape[axis] != 1) out.push_back(shape[axis]);
  }
  return detail::reshape_to("squeeze", x, out);
}

// New axes of extent 1, where `axis` says they shall be in the result. The view has the shape of x with these
// axes: (m, n) with axis 1 becomes (m, 1, n). Throws IndexError if an axis is out of bounds, and ValueError
// if one repeats.
template <detail::ArrayLike X>
auto expand_dims(const X& x_, const Axis& axis) {
  const auto& x = detail::materialise(x_);
  const int ndim = x.ndim() + static_cast<int>(axis.list().size());
  const Dims axes = detail::normalize_axes("expand_dims", axis.list(), ndim);
  Dims out;
  for (int a = 0, from = 0; a < ndim; ++a) {
    bool added = false;
    for (std::int64_t b : axes) added = added || a == b;
    out.push_back(added ? 1 : x.shape(from++));
  }
  return detail::reshape_to("expand_dims", x, out);
}

// At least so many axes: (n,) becomes (1, n) in 2-d and (1, n, 1) in 3-d, (m, n) becomes (m, n, 1).
template <detail::Operand X>
auto atleast_1d(const X& x_) {
  const auto x = detail::as_array(x_);
  return x.ndim() >= 1 ? x : x.reshape({1});
}
// The array with axes of extent 1 in front, up to two axes. (n,) becomes (1, n), a number (1, 1).
template <detail::Operand X>
auto atleast_2d(const X& x_) {
  const auto x = detail::as_array(x_);
  return x.ndim() >= 2 ? x : x.reshape({1, x.size()});
}
// The array with axes of extent 1 added, up to three axes, as NumPy places them. (n,) becomes (1, n, 1), (m,
// n) becomes (m, n, 1).
template <detail::Operand X>
auto atleast_3d(const X& x_) {
  const auto x = detail::as_array(x_);
  if (x.ndim() >= 3) return x;
  return x.ndim() == 2 ? x.reshape({x.shape(0), x.shape(1), 1}) : x.reshape({1, x.size(), 1});
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/views/reshape-inl.hpp"
#endif
