#pragma once

#include "nax/fft/fftn.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE FftAxes fft_axes(const char* function, const Shape& shape, const Shape& s, const Axis& axis,
                            bool last_real) {
  const int ndim = static_cast<int>(shape.size());
  FftAxes out;
  Dims named = axis.list();
  if (!axis.given() && !s.empty())
    for (std::size_t i = 0; i < s.size(); ++i)
      named.push_back(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(s.size()));
  out.axes = axis.given() || !s.empty() ? normalize_axes(function, named, ndim)
                                        : normalize_axes(function, Axis(), ndim);
  if (!s.empty() && s.size() != out.axes.size())
    raise<ValueError>({function, ": shape and axes have different lengths: s ", to_string(s), ", axes ",
                       to_string(out.axes)});
  for (std::size_t i = 0; i < out.axes.size(); ++i) {
    const std::int64_t have = shape[static_cast<std::size_t>(out.axes[i])];
    const bool halved = last_real && i + 1 == out.axes.size();
    std::int64_t n = s.empty() || s[i] == -1 ? (halved ? 2 * (have - 1) : have) : s[i];
    check_length(function, n);
    out.places.push_back(n);
  }
  if (last_real && out.axes.empty()) raise<ValueError>({function, ": at least 1 axis must be transformed"});
  return out;
}

}  // namespace detail
NAX_END
