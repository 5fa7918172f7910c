#pragma once

#include "nax/numpy/views/views.hpp"

// Functions that keep the order of the elements and change the axes they are counted by.
namespace nax::inline NAX_ABI {
namespace detail {

// The shape asked for, its -1 worked out. Throws where the number of elements differs.
NAX_ENGINE Dims resolve_shape(const char* function, const Dims& from, const Dims& to);

// Appends strides that read the visible axes of `from` by `shape` (of as many elements); false where no
// strides do.
NAX_ENGINE bool append_reshaped(Layout& out, const Layout& from, const Dims& shape);

// A copy that repeats no example: hidden axes of stride 0 stay so.
NAX_ENGINE ArrayBase compact(const ArrayBase& x);

template <class T>
Array<T> reshape_to(const char* function, const Array<T>& x, const Dims& to) {
  check_operand(function, x);
  const Dims before = x.shape();
  const Dims shape = resolve_shape(function, before, to);
  const auto pull = [before](const Array<T>& g) { return reshape_to("reshape", g, before); };
  const auto push = [shape](const Array<T>& t) { return reshape_to("reshape", t, shape); };
  Layout layout = hidden_part(layout_of(x));
  if (append_reshaped(layout, layout_of(x), shape)) return record_view(x, std::move(layout), 0, pull, push);
  ArrayBase copied = compact(x);
  layout = hidden_part(layout_of(copied));
  append_reshaped(layout, layout_of(copied), shape);
  Array<T> result = typed<T>(view(std::move(copied), std::move(layout)));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result), wrt(x, pull, push));
  else
    return result;
}

}  // namespace detail

// The elements in row-major order under another shape, one extent of which may be -1. A view where strides
// allow it.
template <detail::ArrayLike X>
auto reshape(const X& x, const Shape& shape) {
  return detail::reshape_to("reshape", detail::materialise(x), shape);
}
template <class Element>
Array<Element> Array<Element>::reshape(const Shape& shape) const {
  return detail::reshape_to("reshape", *this, shape);
}

// 1-d.
template <detail::ArrayLike X>
auto ravel(const X& x) {
  return detail::reshape_to("ravel", detail::materialise(x), Shape{x.size()});
}
// The elements in row-major order, as a 1-d array.
template <detail::ArrayLike X>
auto flatten(const X& x) {
  return detail::reshape_to("flatten", detail::materialise(x), Shape{x.size()});
}

struct SqueezeOptions {
  Axis axis = {};  // all axes of extent 1 when not given
};
// Without axes of extent 1. Throws ValueError where an axis named has another extent.
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

// New axes of extent 1, where `axis` says they shall be in the result.
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
// The array with axes of extent 1 in front, up to two axes.
template <detail::Operand X>
auto atleast_2d(const X& x_) {
  const auto x = detail::as_array(x_);
  return x.ndim() >= 2 ? x : x.reshape({1, x.size()});
}
// The array with axes of extent 1 added, up to three axes, as NumPy places them.
template <detail::Operand X>
auto atleast_3d(const X& x_) {
  const auto x = detail::as_array(x_);
  if (x.ndim() >= 3) return x;
  return x.ndim() == 2 ? x.reshape({x.shape(0), x.shape(1), 1}) : x.reshape({1, x.size(), 1});
}

}  // namespace nax::inline NAX_ABI

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE Dims resolve_shape(const char* function, const Dims& from, const Dims& to) {
  std::int64_t size = 1;
  int unknown = -1;
  for (std::int64_t d : from) size *= d;
  Dims shape = to;
  const auto fail = [&] {
    raise<ShapeError>(
        {function, ": cannot reshape array of size ", size, " into shape ", to, ", its shape is ", from});
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    if (shape[i] != -1) fail();
    if (unknown >= 0) raise<ValueError>({function, ": can only specify one unknown dimension, shape ", to});
    unknown = static_cast<int>(i);
    shape[i] = 1;
  }
  const std::int64_t known = count_elements(function, shape);
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) fail();
    shape[static_cast<std::size_t>(unknown)] = size / known;
  } else if (known != size) {
    fail();
  }
  return shape;
}

NAX_ENGINE bool append_reshaped(Layout& out, const Layout& from, const Dims& shape) {
  // Groups of axes with equal products; within a group the old axes must be walked as one.
  Dims extents, strides;
  for (int axis = 0; axis < from.ndim(); ++axis) {
    if (from.visible(axis) == 0) {  // no elements: any strides will do
      std::int64_t stride = 1;
      Dims own(shape.size(), 1);
      for (std::size_t i = shape.size(); i-- > 0;) own[i] = stride, stride *= shape[i] > 0 ? shape[i] : 1;
      for (std::size_t i = 0; i < shape.size(); ++i) append_axis(out, shape[i], own[i]);
      return true;
    }
    if (from.visible(axis) == 1) continue;
    extents.push_back(from.visible(axis));
    strides.push_back(visible_stride(from, axis));
  }
  std::size_t i = 0, begin = 0;
  Dims made(shape.size(), 1);
  for (std::size_t j = 0; j < shape.size();) {
    if (shape[j] == 1) {
      ++j;
      continue;
    }
    const std::size_t first = j;
    std::int64_t want = shape[j++], have = extents[i++];
    while (want != have) {
      if (want < have)
        want *= shape[j++];
      else
        have *= extents[i++];
    }
    for (std::size_t k = begin; k + 1 < i; ++k)
      if (strides[k] != strides[k + 1] * extents[k + 1]) return false;
    std::int64_t stride = strides[i - 1];
    for (std::size_t k = j; k-- > first;) made[k] = stride, stride *= shape[k];
    begin = i;
  }
  for (std::size_t j = 0; j < shape.size(); ++j) append_axis(out, shape[j], made[j]);
  return true;
}

NAX_ENGINE ArrayBase compact(const ArrayBase& x) {
  const Layout& layout = layout_of(x);
  Layout thin = layout;
  bool repeated = false;
  for (int h = 0; h < layout.hidden(); ++h)
    if (layout.strides[h] == 0 && layout.shape[h] > 1) thin.shape[h] = 1, repeated = true;
  if (!repeated) return copy_over(x, layout);
  ArrayBase copied = copy_over(view(x, thin), thin);
  Layout result = layout;
  for (std::size_t axis = 0; axis < result.shape.size(); ++axis)
    result.strides[axis] =
        thin.shape[axis] == 1 && layout.shape[axis] != 1 ? 0 : layout_of(copied).strides[axis];
  return view(std::move(copied), std::move(result));
}

}  // namespace nax::inline NAX_ABI::detail
#endif
