#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// Describes convolutions of row-major arrays: x is (n, in..., c), w (kernel..., c / groups, o), y (n, out...,
// o), with three spatial axes (those that are missing have extent 1).
NAX_BEGIN
namespace loops {

// Each is linear in two of x, w and y, and gives the third.
enum class ConvPart : std::uint8_t {
  forward,  // y from x and w
  input,    // the transpose in x: a gradient of x from one of y, and w
  weights   // the transpose in w: a gradient of w from x, and one of y
};

struct ConvGeometry {
  std::int64_t n = 1, c = 1, o = 1, groups = 1;
  std::int64_t in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  // Along an axis, tap k of output p reads at p * stride + k * rhs - low; x stands at the multiples of lhs.
  std::int64_t stride[3] = {1, 1, 1}, low[3] = {0, 0, 0}, lhs[3] = {1, 1, 1}, rhs[3] = {1, 1, 1};

  std::int64_t rows() const { return n * out[0] * out[1] * out[2]; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

}  // namespace loops
NAX_END
