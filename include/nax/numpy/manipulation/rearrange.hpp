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
template <class T>
Array<T> flip_on(const char* function, const Array<T>& x, const Dims& axes) {
  check_operand(function, x);
  Selection s = Selection::all(layout_of(x));
  for (std::int64_t a : axes) {
    const std::size_t axis = static_cast<std::size_t>(a);
    s.step[axis] = -1;
    s.start[axis] = s.count[axis] > 0 ? s.count[axis] - 1 : 0;
  }
  return get(x, s);
}
}  // namespace detail

// The order along axes reversed: a view.
template <detail::ArrayLike X>
auto flip(const X& x_, const FlipOptions& options = {}) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("flip", x, detail::normalize_axes("flip", options.axis, x.ndim()));
}
// The array with axis 0 reversed.
template <detail::ArrayLike X>
auto flipud(const X& x_) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("flipud", x, Dims(1, detail::normalize_axis("flipud", 0, x.ndim())));
}
// The array with axis 1 reversed.
template <detail::ArrayLike X>
auto fliplr(const X& x_) {
  const auto& x = detail::materialise(x_);
  return detail::flip_on("fliplr", x, Dims(1, detail::normalize_axis("fliplr", 1, x.ndim())));
}

struct RollOptions {
  Axis axis = {};  // of the flattened array when not given
};
namespace detail {
// x with what lies before `cut` on an axis moved behind the rest; not recorded. Only where x lies contiguous
// on the host and is so small that nothing pays but to copy it; false otherwise.
NAX_ENGINE bool roll_small(const ArrayBase& x, int axis, std::int64_t cut, ArrayBase& result);
}  // namespace detail

// Elements moved on by `shift` along axes; those that pass the end come in at the front. One shift for all
// axes named, or one for each.
template <detail::ArrayLike X>
auto roll(const X& x_, const Axis& shift, const RollOptions& options = {}) {
  auto x = detail::as_array(x_);
  detail::check_operand("roll", x);
  const Shape shape = x.shape();
  if (!options.axis.given()) x = detail::reshape_to("roll", x, Shape{x.size()});
  Dims axes = options.axis.list();
  if (!options.axis.given()) axes.push_back(0);
  const Dims& shifts = shift.list();
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    raise<ValueError>({"roll: 'shift' and 'axis' should be scalars or 1D sequences of one length: ", shifts,
                       " and ", axes});
  const std::size_t count = shifts.size() > axes.size() ? shifts.size() : axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int axis = detail::normalize_axis("roll", axes[axes.size() == 1 ? 0 : i], x.ndim());
    const std::int64_t n = x.shape(axis), by = shifts[shifts.size() == 1 ? 0 : i];
    if (n == 0) continue;
    const std::int64_t cut = ((n - by % n) % n + n) % n;
    if (cut == 0) continue;
    if (ArrayBase rolled; !detail::is_recorded(x) && detail::roll_small(x, axis, cut, rolled)) {
      x = detail::typed<typename decltype(x)::value_type>(std::move(rolled));
      continue;
    }
    x = detail::concatenate_on(
        "roll", std::vector{detail::narrow(x, axis, cut, n), detail::narrow(x, axis, 0, cut)}, axis);
  }
  return options.axis.given() ? x : detail::reshape_to("roll", x, shape);
}

struct Rot90Options {
  std::int64_t k = 1;
  Axis axes = {0, 1};
};
// Turned by 90 degrees k times in the plane of two axes, from the first towards the second.
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
