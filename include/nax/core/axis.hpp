#pragma once

#include <cstdint>
#include <vector>

#include "nax/core/none.hpp"
#include "nax/core/shape.hpp"

NAX_BEGIN

// The value of an `axis` option: nothing (what that means is the function's affair), one axis, or several in
// braces.
class Axis {
 public:
  Axis() = default;
  Axis(None) {}
  template <std::integral I>
  Axis(I axis) : given_(true), single_(true), axes_(1, static_cast<std::int64_t>(axis)) {}
  Axis(std::initializer_list<Extent> axes) : given_(true) {
    for (Extent axis : axes) axes_.push_back(axis.value);
  }
  template <std::integral I>
  Axis(const std::vector<I>& axes) : given_(true), axes_(axes.begin(), axes.end()) {}

  bool given() const { return given_; }
  bool all() const { return !given_; }
  bool single() const { return single_; }
  // As they were written: negative ones not yet counted from the front.
  const Dims& list() const { return axes_; }

 private:
  bool given_ = false, single_ = false;
  Dims axes_;
};

namespace detail {

// Each axis counted from the front, in the order given. Throws IndexError out of range, ValueError for one
// named twice.
NAX_ENGINE Dims normalize_axes(const char* function, const Dims& axes, int ndim);
// Normalises axes; every axis where none was given.
NAX_ENGINE Dims normalize_axes(const char* function, const Axis& axis, int ndim);

// Throws ValueError where a place up to `last` does not fit an int32.
NAX_ENGINE void check_places(const char* function, std::int64_t last);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void check_places(const char* function, std::int64_t last) {
  if (last > INT32_MAX)
    raise<ValueError>({function, ": places are int32, and do not reach ", last, ": split the array"});
}

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
#endif
