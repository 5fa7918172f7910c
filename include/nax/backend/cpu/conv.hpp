#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

// Convolutions of row-major arrays: x is (n, in..., c), w (kernel..., c / groups, o), y (n, out..., o), with
// three spatial axes (those that are missing have extent 1). Each of the three is linear in two others:
//
//   conv_forward   y from x and w
//   conv_input     the transpose in x: a gradient of x from one of y, and w
//   conv_weights   the transpose in w: a gradient of w from x, and one of y
//
// All three go by blocks of rows of y: the patches that a row sees become a row of a matrix, and the block is
// one matrix product. Defined in conv_kernels.hpp.
NAX_BEGIN
namespace cpu {

struct ConvGeometry {
  std::int64_t n = 1, c = 1, o = 1, groups = 1;
  std::int64_t in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  // Along an axis, tap k of output p reads at p * stride + k * rhs - low; x stands at the multiples of lhs.
  std::int64_t stride[3] = {1, 1, 1}, low[3] = {0, 0, 0}, lhs[3] = {1, 1, 1}, rhs[3] = {1, 1, 1};

  std::int64_t rows() const { return n * out[0] * out[1] * out[2]; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

template <class T>
void conv_forward(const ConvGeometry& s, const T* x, const T* w, T* y);
template <class T>
void conv_input(const ConvGeometry& s, const T* g, const T* w, T* x);
// Adds to what is there when `accumulate`.
template <class T>
void conv_weights(const ConvGeometry& s, const T* x, const T* g, T* w, bool accumulate);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/conv_kernels.hpp"
#endif
