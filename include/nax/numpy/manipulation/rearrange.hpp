#pragma once

#include <cstring>
#include <type_traits>

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/split.hpp"
#include "nax/numpy/views/transpose.hpp"

// flip, roll, rot90.
NAX_BEGIN

struct FlipOptions {
  Axis axis = {};  // all axes when not given
};
namespace detail {
NAX_ENGINE ArrayBase flip_on(const char* function, const ArrayBase& x, const Dims& axes);
template <class T>
Array<T> flip_on(const char* function, const Array<T>& x, const Dims& axes) {
  return typed<T>(flip_on(function, handle_of(x), axes));
}
}  // namespace detail

// The order along axes reversed: a view. It has the shape of x. Throws IndexError if an axis is out of
// bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto flip(const X& x_, const FlipOptions& options = {}) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("flip", x, detail::normalize_axes("flip", options.axis, x.ndim()));
}
// The array with axis 0 reversed. It has the shape of x. Throws IndexError for a 0-d array.
template <detail::ArrayLike X>
auto flipud(const X& x_) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("flipud", x, Dims(1, detail::normalize_axis("flipud", 0, x.ndim())));
}
// The array with axis 1 reversed. It has the shape of x. Throws IndexError for an array of less than two
// axes.
template <detail::ArrayLike X>
auto fliplr(const X& x_) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("fliplr", x, Dims(1, detail::normalize_axis("fliplr", 1, x.ndim())));
}

struct RollOptions {
  Axis axis = {};  // of the flattened array when not given
};
namespace detail {
NAX_ENGINE ArrayBase rolled(ArrayBase x, const Axis& shift, const Axis& along);
}  // namespace detail

// Elements moved on by `shift` along axes; those that pass the end come in at the front. One shift for all
// axes named, or one for each. The result has the shape of x. Throws ValueError if shifts and axes differ in
// number, and IndexError if an axis is out of bounds.
template <detail::ArrayLike X>
auto roll(const X& x, const Axis& shift, const RollOptions& options = {}) {
  return detail::typed<typename X::value_type>(detail::rolled(detail::materialise(x), shift, options.axis));
}

struct Rot90Options {
  std::int64_t k = 1;
  Axis axes = {0, 1};
};
// Turned by 90 degrees k times in the plane of two axes, from the first towards the second. The result has
// the shape of x, with the two extents exchanged where k is odd. Throws ValueError unless two different axes
// are given, and IndexError if one is out of bounds.
template <detail::ArrayLike X>
auto rot90(const X& x_, const Rot90Options& options = {}) {
  const auto& x = detail::materialise(x_);
  const Dims axes = detail::normalize_axes("rot90", options.axes.list(), x.ndim());
  if (axes.size() != 2) raise<ValueError>({"rot90: len(axes) must be 2, axes ", options.axes.list()});
  const Dims first(1, axes[0]), second(1, axes[1]);
  switch ((options.k % 4 + 4) % 4) {
    case 0:
      return detail::flip_on("rot90", x, Dims());
    case 2:
      return detail::flip_on("rot90", x, axes);
    case 1:
      return swapaxes(detail::flip_on("rot90", x, second), axes[0], axes[1]);
    default:
      return detail::flip_on("rot90", swapaxes(x, axes[0], axes[1]), second);
  }
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/manipulation/rearrange-inl.hpp"
#endif
