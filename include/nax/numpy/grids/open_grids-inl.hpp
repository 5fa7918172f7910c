#pragma once

#include "nax/numpy/grids/open_grids.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::int32_t> grid_line(const char* function, const Slice& s) {
  if (s.stop.open) raise<ValueError>({function, ": a slice must have an end"});
  const std::int64_t start = s.start.open ? 0 : s.start.value, step = s.step.open ? 1 : s.step.value;
  return arange<std::int32_t>(start, s.stop.value, step);
}

}  // namespace detail
NAX_END
