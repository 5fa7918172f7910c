#pragma once

#include <vector>

#include "nax/numpy/views/views.hpp"

// Functions that change the order of the axes; all give views.
NAX_BEGIN
namespace detail {

// Visible axis i of the result is axis order[i] of x; `order` is known to be a permutation.
NAX_ENGINE ArrayBase permute(const ArrayBase& x, const Dims& order);
template <class T>
Array<T> permute(const Array<T>& x, const Dims& order) {
  return typed<T>(permute(handle_of(x), order));
}

// `axes` reversed when empty.
NAX_ENGINE ArrayBase transpose_by(const char* function, const ArrayBase& x, const Dims& axes, bool given);
template <class T>
Array<T> transpose_by(const char* function, const Array<T>& x, const Dims& axes, bool given) {
  return typed<T>(transpose_by(function, handle_of(x), axes, given));
}

// The last two axes of an array that has them swapped.
NAX_ENGINE ArrayBase transpose_matrices(const ArrayBase& x);

}  // namespace detail

struct TransposeOptions {
  Axis axes = {};  // reversed when not given
};
// transpose(x): axes reversed; transpose(x, {.axes = {0, 2, 1}}) or transpose(x, {0, 2, 1}): in this order.
// The view has the shape of x in that order. Throws ValueError unless `axes` names each axis once, and
// IndexError if one is out of bounds.
template <detail::ArrayLike X>
auto transpose(const X& x, const TransposeOptions& options = {}) {
  return detail::transpose_by("transpose", detail::materialise(x), options.axes.list(), options.axes.given());
}
template <detail::ArrayLike X, std::integral I>
auto transpose(const X& x, std::initializer_list<I> axes) {
  return detail::transpose_by("transpose", detail::materialise(x), Dims(axes.begin(), axes.end()), true);
}
// The array with its axes in another order. As transpose. The view has the shape of x in that order. Throws
// ValueError unless `axes` names each axis once, and IndexError if one is out of bounds.
template <detail::ArrayLike X>
auto permute_dims(const X& x, const Axis& axes) {
  return detail::transpose_by("permute_dims", detail::materialise(x), axes.list(), true);
}
// The last two axes swapped. (..., m, n) becomes (..., n, m), as a view. Throws ValueError for an array of
// less than two axes.
template <detail::ArrayLike X>
auto matrix_transpose(const X& x_) {
  const auto& x = detail::materialise(x_);
  if (x.ndim() < 2)
    raise<ValueError>({"matrix_transpose: the array must be at least 2-d, shape ", x.shape()});
  Dims order;
  for (int axis = 0; axis < x.ndim() - 2; ++axis) order.push_back(axis);
  order.push_back(x.ndim() - 1);
  order.push_back(x.ndim() - 2);
  return detail::transpose_by("matrix_transpose", x, order, true);
}

template <class Element>
Array<Element> Array<Element>::T() const {
  return detail::transpose_by("transpose", *this, Dims(), false);
}
template <class Element>
Array<Element> Array<Element>::transpose(const std::vector<int>& axes) const {
  return detail::transpose_by("transpose", *this, Dims(axes.begin(), axes.end()), !axes.empty());
}

// Axes `source` go to the places `destination`; the others keep their order. The view has the shape of x in
// that order. Throws ValueError if source and destination differ in number or an axis repeats, and IndexError
// if one is out of bounds.
template <detail::ArrayLike X>
auto moveaxis(const X& x_, const Axis& source, const Axis& destination) {
  const auto& x = detail::materialise(x_);
  const int ndim = x.ndim();
  const Dims from = detail::normalize_axes("moveaxis", source.list(), ndim);
  const Dims to = detail::normalize_axes("moveaxis", destination.list(), ndim);
  if (from.size() != to.size())
    throw ValueError("moveaxis: `source` and `destination` must have the same number of elements");
  Dims order(static_cast<std::size_t>(ndim), -1);
  for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t& o : order) {
    if (o >= 0) continue;
    const auto moved = [&](std::int64_t axis) {
      for (std::int64_t f : from)
        if (f == axis) return true;
      return false;
    };
    while (moved(next)) ++next;
    o = next++;
  }
  return detail::transpose_by("moveaxis", x, order, true);
}
// The array with two axes exchanged, as a view. It has the shape of x with these two extents exchanged.
// Throws IndexError if an axis is out of bounds.
template <detail::ArrayLike X>
auto swapaxes(const X& x_, std::int64_t axis1, std::int64_t axis2) {
  const auto& x = detail::materialise(x_);
  Dims order;
  for (int axis = 0; axis < x.ndim(); ++axis) order.push_back(axis);
  const int a = detail::normalize_axis("swapaxes", axis1, x.ndim());
  const int b = detail::normalize_axis("swapaxes", axis2, x.ndim());
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return detail::transpose_by("swapaxes", x, order, true);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/views/transpose-inl.hpp"
#endif
