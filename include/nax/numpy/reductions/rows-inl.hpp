#pragma once

#include "nax/numpy/reductions/rows.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool marks_suffix(const AxisMarks& marks) {
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i - 1] && !marks[i]) return false;
  return true;
}

}  // namespace detail
NAX_END
