#pragma once

#include "nax/core/shape.hpp"

// Describes windows that slide along all visible axes of an array: along an axis, tap k of window p reads at
// p * stride + k * dilation - low, and the array stands at the multiples of base.
NAX_BEGIN
namespace loops {

struct Windows {
  Dims in, window, out, strides, base, dilation, low, high;
};

}  // namespace loops
NAX_END
