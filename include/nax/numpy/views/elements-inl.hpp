#pragma once

#include "nax/numpy/views/elements.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_past_transform() {
  throw ValueError(
      "elements: a function of nax would read an array's elements past the grad, jvp or vmap that it is "
      "under, and give wrong derivatives or one example's values for all; please report which");
}

NAX_ENGINE void need_plain(const char* function, const char* operand, const ArrayBase& a) {
  if (!is_transformed(a)) [[likely]]
    return;
  if (is_batched(a)) throw_not_mapped(function, operand);
  if (is_recorded(a)) throw_not_differentiable(function, operand);
}

}  // namespace detail
NAX_END
