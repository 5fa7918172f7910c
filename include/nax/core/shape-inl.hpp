#pragma once

#include "nax/core/overflow.hpp"
#include "nax/core/shape.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t count_elements(const char* function, const Dims& shape) {
  std::int64_t n = 1;
  bool empty = false, wrong = false;
  for (const std::int64_t extent : shape) {
    empty |= extent == 0;
    wrong |= extent < 0;
    wrong |= multiply_overflows(n, extent + (extent == 0), n);
  }
  if (wrong || n > most_elements) [[unlikely]]
    throw_extents(function, shape);
  return empty ? 0 : n;
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE std::string shape_text(const std::int64_t* dims, std::size_t n) {
  std::string text = "(";
  for (std::size_t i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + (n == 1 ? ",)" : ")");
}

NAX_END
NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_extents(const char* function, const Dims& shape) {
  for (const std::int64_t extent : shape)
    if (extent < 0)
      raise<ValueError>({function, ": negative dimensions are not allowed, shape ", to_string(shape)});
  raise<ValueError>({function, ": array is too big: shape ", to_string(shape), " has more than ",
                     most_elements, " elements"});
}

NAX_ENGINE int normalize_axis(const char* function, std::int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    raise<IndexError>({function, ": axis ", axis, " is out of bounds for array of dimension ", ndim});
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace detail
NAX_END
