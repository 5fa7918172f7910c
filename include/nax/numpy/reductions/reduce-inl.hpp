#pragma once

#include "nax/numpy/reductions/reduce.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_not_empty(const char* function, const AxisMarks& marks, const Frame& frame) {
  if (marked_count(marks, frame) == 0)
    raise<ValueError>(
        {function, ": zero-size array to reduction operation ", function, " which has no identity"});
}

}  // namespace detail
NAX_END
