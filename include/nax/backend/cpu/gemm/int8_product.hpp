#pragma once

// Products of rows of floats with weights of 8-bit integers.
//
// Weights are codes from -127 to 127 with a scale for each column, packed once. A row of floats becomes such
// codes with a scale of its own when it is multiplied: its largest magnitude is 127, others are rounded to
// the nearest, ties to even. Codes are multiplied and added up as integers, without saturation, so all
// machines have the same sums; a sum becomes a float and is scaled, and bias and activation follow, as it is
// stored.
//
// Packed codes are panels of 64 columns (the last one of fewer, a multiple of 16): for four steps of k after
// the other, four codes of each column. Where an instruction multiplies unsigned with signed bytes, rows are
// stored plus 128, and 128 times the sum of a column is taken away again.

#include <cstdint>

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/loops/linear.hpp"

NAX_BEGIN
namespace cpu {

using loops::Int8Weights;

inline namespace NAX_SIMD_ABI {

// Writes codes, scales and offsets of float weights with these strides; false where one is not finite.
NAX_ENGINE bool pack_int8(std::int64_t k, std::int64_t n, const float* w, std::int64_t row,
                          std::int64_t column, std::int8_t* codes, float* scales, std::int32_t* offsets);

// y = the activation of x w + bias: row-major x (m, k), y (m, n); bias (n,) or null. A row that holds a NaN
// or an infinity gives NaN. Shares the work out over the pool's threads when there is enough of it.
NAX_ENGINE void int8_product(std::int64_t m, const float* x, const Int8Weights& w, const float* bias,
                             loops::Activation activation, float* y);

}  // namespace NAX_SIMD_ABI

struct Int8ProductKernel {
  static constexpr const char* name = "int8_product";
  using Function = void(std::int64_t m, const float* x, const Int8Weights& w, const float* bias,
                        loops::Activation activation, float* y);
  template <class T>
  static void run(std::int64_t m, const float* x, const Int8Weights& w, const float* bias,
                  loops::Activation activation, float* y) {
    int8_product(m, x, w, bias, activation, y);
  }
};

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/gemm/int8_product-inl.hpp"
#endif
