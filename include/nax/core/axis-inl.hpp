#pragma once

#include "nax/core/axis.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Dims normalize_axes(const char* function, const Dims& axes, int ndim) {
  Dims out;
  for (std::int64_t axis : axes) {
    const std::int64_t a = normalize_axis(function, axis, ndim);
    for (std::int64_t before : out)
      if (before == a) raise<ValueError>({function, ": duplicate value in 'axis': ", axis});
    out.push_back(a);
  }
  return out;
}

NAX_ENGINE Dims normalize_axes(const char* function, const Axis& axis, int ndim) {
  if (axis.given()) return normalize_axes(function, axis.list(), ndim);
  Dims all;
  for (int a = 0; a < ndim; ++a) all.push_back(a);
  return all;
}

}  // namespace detail
NAX_END
