#pragma once

#include <cstdint>

#include "nax/backend/cpu/kernel_slots.hpp"

// Counts in bins; defined in bin_kernels.hpp. Each row has n bins, and a result of `length` elements; bins
// from `length` on count nowhere, and none is negative.
NAX_BEGIN
namespace cpu {

struct BinRows {
  std::int64_t rows = 0, n = 0, length = 0;
};

// How often each bin occurs; found by the dtype of the bins.
struct CountKernel {
  static constexpr const char* name = "bincount";
  using Function = void(const BinRows& rows, const void* bins, std::int32_t* to);
  template <class T>
  static void run(const BinRows& rows, const void* bins, std::int32_t* to);
};
// The sums of the weights in each bin, in the type that they add up in; found by the dtype of the weights.
struct BinSumKernel {
  static constexpr const char* name = "bincount";
  using Function = void(const BinRows& rows, DType type, const void* bins, const void* weights, void* to);
  template <class W>
  static void run(const BinRows& rows, DType type, const void* bins, const void* weights, void* to);
};

}  // namespace cpu
NAX_END
