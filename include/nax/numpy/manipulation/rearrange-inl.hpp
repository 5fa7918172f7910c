#pragma once

#include "nax/numpy/manipulation/rearrange.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool roll_small(const ArrayBase& x, int axis, std::int64_t cut, ArrayBase& result) {
  const Layout& layout = layout_of(x);
  std::int64_t inner = static_cast<std::int64_t>(dtype_size(x.dtype()));
  if (layout.size() == 0 || layout.size() * inner > most_bytes_of_small || on_accelerator(x) ||
      !layout.is_contiguous())
    return false;
  for (int a = axis + 1; a < layout.ndim(); ++a) inner *= layout.visible(a);
  const std::int64_t line = layout.visible(axis) * inner, first = cut * inner;
  result = allocate(x.dtype(), layout, x.device());
  const char* from = elements<const char>(x, transforms_handled);
  const char* const end = from + layout.size() * static_cast<std::int64_t>(dtype_size(x.dtype()));
  for (char* to = elements<char>(result, transforms_handled); from < end; from += line, to += line) {
    std::memcpy(to, from + first, static_cast<std::size_t>(line - first));
    std::memcpy(to + (line - first), from, static_cast<std::size_t>(first));
  }
  return true;
}

}  // namespace detail
NAX_END
