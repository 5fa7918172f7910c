#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Differences between neighbours, and what lies under a curve.
NAX_BEGIN

// `prepend` and `append` stand before and behind the array on the axis; numbers are repeated along the
// others.
template <class T>
struct DiffOptions {
  std::int64_t n = 1;
  std::int64_t axis = -1;
  std::optional<Array<T>> prepend = {}, append = {};
};

namespace detail {

// All entries but the last, and all but the first.
template <class T>
std::pair<Array<T>, Array<T>> neighbours(const Array<T>& x, int axis) {
  const std::int64_t count = std::max<std::int64_t>(x.shape(axis) - 1, 0);
  return {stretch_of_axis(x, axis, 0, count), stretch_of_axis(x, axis, x.shape(axis) - count, count)};
}

template <class T>
Array<T> with_edges(const Array<T>& x, int axis, const DiffOptions<T>& options) {
  std::vector<Array<T>> parts;
  Shape one = x.shape();
  one[static_cast<std::size_t>(axis)] = 1;
  const auto add = [&](const std::optional<Array<T>>& edge) {
    if (edge) parts.push_back(edge->ndim() == 0 ? Array<T>(broadcast_to(*edge, one)) : *edge);
  };
  add(options.prepend);
  parts.push_back(x);
  add(options.append);
  return parts.size() == 1 ? x : concatenate_on("diff", parts, axis);
}

}  // namespace detail

// x[i + 1] - x[i] along an axis, n times over; of bool whether the two differ. The result has the shape of x,
// shorter along the axis by n. Throws ValueError for a negative n, ShapeError for a 0-d array and edges that
// do not fit.
template <detail::ArrayLike X>
auto diff(const X& x_, const DiffOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  Array<T> x = detail::as_array(x_);
  detail::check_operand("diff", x);
  if (options.n < 0) raise<ValueError>({"diff: n must not be negative, got ", options.n});
  if (x.ndim() == 0) raise<ShapeError>({"diff: the array must be at least 1-d"});
  const int axis = detail::normalize_axis("diff", options.axis, x.ndim());
  if (options.n > 0) x = detail::with_edges(x, axis, options);
  for (std::int64_t k = 0; k < options.n; ++k) {
    const auto [before, after] = detail::neighbours(x, axis);
    if constexpr (std::is_same_v<T, bool>)
      x = before != after;
    else
      x = after - before;
  }
  return x;
}

// Where the values of y lie: at x, or dx apart.
template <class T>
struct TrapezoidOptions {
  std::optional<Array<T>> x = {};
  double dx = 1;
  std::int64_t axis = -1;
};

// The integral of y along an axis by the trapezoidal rule; `x` is 1-d or has the shape of y. The result has
// the shape of y without the axis. Throws ShapeError if `y` is 0-d or `x` does not fit it, and IndexError if
// `axis` is out of bounds.
template <detail::ArrayLike Y>
auto trapezoid(const Y& y_, const TrapezoidOptions<inexact_t<typename Y::value_type>>& options = {}) {
  using T = inexact_t<typename Y::value_type>;
  const Array<T> y = detail::as_type<T>(y_);
  detail::check_operand("trapezoid", y);
  if (y.ndim() == 0) raise<ShapeError>({"trapezoid: y must be at least 1-d"});
  const int axis = detail::normalize_axis("trapezoid", options.axis, y.ndim());
  const auto [before, after] = detail::neighbours(y, axis);
  const Array<T> both = before + after;
  using Real = real_t<detail::lane_t<T>>;
  if (!options.x) return Array<T>(sum(both, {.axis = axis}) * static_cast<Real>(options.dx / 2));
  Array<T> x = *options.x;
  if (x.ndim() == 1) {
    Shape along(Dims(static_cast<std::size_t>(y.ndim()), 1));
    along[static_cast<std::size_t>(axis)] = x.shape(0);
    x = detail::reshape_to("trapezoid", x, along);
  }
  if (x.ndim() != y.ndim() || x.shape(axis) != y.shape(axis))
    raise<ShapeError>({"trapezoid: x must be 1-d, as long as y's axis ", axis,
                       ", or have y's shape: ", options.x->shape(), " against ", y.shape()});
  const auto [left, right] = detail::neighbours(x, axis);
  return Array<T>(sum(both * (right - left), {.axis = axis}) * static_cast<Real>(0.5));
}

NAX_END
