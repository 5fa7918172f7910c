#pragma once

#include "nax/numpy/products/dot.hpp"

NAX_BEGIN
namespace detail {

// Visible axes: first `first`, then `second`, as a matrix of two axes.
NAX_ENGINE ArrayBase as_matrix(const ArrayBase& x, const Dims& first, const Dims& second) {
  Dims order = first;
  order.append(second.begin(), second.end());
  std::int64_t rows = 1, columns = 1;
  for (std::int64_t axis : first) rows *= x.shape(axis);
  for (std::int64_t axis : second) columns *= x.shape(axis);
  return reshape_to("tensordot", permute(x, order), Shape{rows, columns});
}

NAX_ENGINE ArrayBase tensordot_axes(const char* function, const ArrayBase& a, const ArrayBase& b,
                                    const Dims& of_a, const Dims& of_b) {
  if (of_a.size() != of_b.size())
    raise<ValueError>(
        {function, ": axes must name as many axes of each operand: ", of_a.size(), " and ", of_b.size()});
  const Dims sa = normalize_axes(function, of_a, a.ndim()), sb = normalize_axes(function, of_b, b.ndim());
  for (std::size_t i = 0; i < sa.size(); ++i)
    if (a.shape(sa[i]) != b.shape(sb[i])) throw_inner(function, a.shape(), b.shape());
  const auto others = [](const ArrayBase& x, const Dims& summed, Dims& shape) {
    Dims kept;
    for (int axis = 0; axis < x.ndim(); ++axis) {
      bool gone = false;
      for (std::int64_t s : summed) gone = gone || s == axis;
      if (!gone) kept.push_back(axis), shape.push_back(x.shape(axis));
    }
    return kept;
  };
  Dims shape;
  const Dims ka = others(a, sa, shape), kb = others(b, sb, shape);
  return reshape_to(function, matmul_arrays(function, as_matrix(a, ka, sa), as_matrix(b, sb, kb)), shape);
}

}  // namespace detail
NAX_END
