#pragma once

#include "nax/numpy/views/transpose.hpp"
#include "nax/transform/map_loops.hpp"

NAX_BEGIN

// func1d(line) for each line along an axis. The axes of what it returns take the place of that axis. func1d
// runs once, under vmap. Throws IndexError if the axis is out of bounds.
template <class F, detail::ArrayLike X>
auto apply_along_axis(const F& func1d, std::int64_t axis_, const X& x_) {
  const auto x = detail::as_array(x_);
  detail::check_operand("apply_along_axis", x);
  const int axis = detail::normalize_axis("apply_along_axis", axis_, x.ndim());
  const auto lines = moveaxis(x, axis, -1);
  Dims loops = lines.shape();
  loops.pop_back();
  const auto y = detail::map_loops("apply_along_axis", func1d, loops, {1}, lines);
  static_assert(is_array_v<decltype(y)>, "apply_along_axis: the function must return an array");
  std::vector<int> order;
  const int before = static_cast<int>(loops.size());
  for (int a = 0; a < axis; ++a) order.push_back(a);
  for (int a = before; a < y.ndim(); ++a) order.push_back(a);
  for (int a = axis; a < before; ++a) order.push_back(a);
  return detail::transpose_by("apply_along_axis", y, Dims(order.begin(), order.end()), true);
}

NAX_END
