#pragma once

#include "nax/numpy/indexing/diagonal.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t DiagonalPlan::view(const Layout& x, Layout& out) const {
  out = hidden_part(x);
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != axis1 && axis != axis2) append_axis(out, x.visible(axis), visible_stride(x, axis));
  const std::int64_t s1 = visible_stride(x, axis1), s2 = visible_stride(x, axis2);
  const std::int64_t rows = x.visible(axis1) - (offset < 0 ? -offset : 0);
  const std::int64_t columns = x.visible(axis2) - (offset > 0 ? offset : 0);
  const std::int64_t n = rows < columns ? rows : columns;
  append_axis(out, n > 0 ? n : 0, s1 + s2);
  return n <= 0 ? 0 : offset < 0 ? -offset * s1 : offset * s2;
}

}  // namespace detail
NAX_END
