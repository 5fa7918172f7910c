#pragma once

#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

NAX_BEGIN
namespace detail {

// x under one shape, broadcast to another, seen as a third.
NAX_ENGINE ArrayBase repeated_view(const char* function, const ArrayBase& x, const Dims& apart,
                                   const Dims& repeated, const Dims& out) {
  count_elements(function, out);
  return reshape_to(function, broadcast_visible(function, reshape_to(function, x, apart), repeated), out);
}

NAX_ENGINE ArrayBase tiled(const ArrayBase& x, const Shape& reps) {
  const int ndim = x.ndim() > static_cast<int>(reps.size()) ? x.ndim() : static_cast<int>(reps.size());
  Dims apart, repeated, out;
  for (int axis = 0; axis < ndim; ++axis) {
    const int own = axis - (ndim - x.ndim()), given = axis - (ndim - static_cast<int>(reps.size()));
    const std::int64_t n = own < 0 ? 1 : x.shape(own),
                       r = given < 0 ? 1 : reps[static_cast<std::size_t>(given)];
    if (r < 0) raise<ValueError>({"tile: negative repetitions are not allowed, ", reps});
    apart.push_back(1), apart.push_back(n);
    repeated.push_back(r), repeated.push_back(n);
    out.push_back(multiply_extents(r, n));
  }
  return repeated_view("tile", x, apart, repeated, out);
}

NAX_ENGINE ArrayBase repeat_operand(const ArrayBase& x, const Axis& along, int& axis) {
  const ArrayBase a = along.given() ? x : reshape_to("repeat", x, Shape{x.size()});
  axis = normalize_axis("repeat", along.given() ? along.list()[0] : 0, a.ndim());
  return a;
}

NAX_ENGINE ArrayBase repeated(const ArrayBase& x_, std::int64_t repeats, const Axis& along) {
  int axis;
  const ArrayBase x = repeat_operand(x_, along, axis);
  if (repeats < 0) raise<ValueError>({"repeat: repeats may not contain negative values: ", repeats});
  Dims out = x.shape(), apart = out;
  apart.insert(static_cast<std::size_t>(axis) + 1, 1);
  Dims times = apart;
  times[static_cast<std::size_t>(axis) + 1] = repeats;
  std::int64_t& extent = out[static_cast<std::size_t>(axis)];
  extent = multiply_extents(extent, repeats);
  return repeated_view("repeat", x, apart, times, out);
}

}  // namespace detail
NAX_END
