#pragma once

#include <cstdint>

#include "nax/core/compiler.hpp"

NAX_BEGIN
namespace loops {

// out[i] = sum over k < taps of y[i + k] w[k] for i < length; y is x, of n elements, behind `low` zeros (or
// without its first -low elements), with zeros or elements left over behind. Strides are in elements.
struct Correlation {
  std::int64_t n, taps, low, length;
  std::int64_t x_stride = 1, w_stride = 1;
};

}  // namespace loops
NAX_END
