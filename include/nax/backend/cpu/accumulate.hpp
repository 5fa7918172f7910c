#pragma once

#include <complex>
#include <cstdint>

#include "nax/core/dtype.hpp"

namespace nax::inline NAX_ABI::cpu {

// The sum of a contiguous run. Many partial sums keep the adders busy and the rounding error small: every
// partial sum takes n / 32 terms.
template <class T>
T sum_run(const T* x, std::int64_t n) {
  constexpr int width = 32;
  T partial[width] = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width)
    for (int j = 0; j < width; ++j) partial[j] += x[i + j];
  for (int j = 0; i + j < n; ++j) partial[j] += x[i + j];
  for (int half = width / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) partial[j] += partial[j + half];
  return partial[0];
}

// to[i * stride] += from[i]; a stride of 0 adds the sum of the run.
using AccumulateFn = void (*)(const void* from, void* to, std::int64_t stride, std::int64_t n);

template <class T>
void accumulate_run(const void* from_, void* to_, std::int64_t stride, std::int64_t n) {
  const T* from = static_cast<const T*>(from_);
  T* to = static_cast<T*>(to_);
  if (stride == 0) {
    *to += sum_run(from, n);
  } else if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * stride] += from[i];
  }
}

// For the types in which gradients are accumulated; half types accumulate in float.
inline AccumulateFn accumulator(DType lane) {
  switch (lane) {
    case DType::float32:
      return accumulate_run<float>;
    case DType::float64:
      return accumulate_run<double>;
    case DType::complex64:
      return accumulate_run<std::complex<float>>;
    case DType::complex128:
      return accumulate_run<std::complex<double>>;
    default:
      return nullptr;
  }
}

}  // namespace nax::inline NAX_ABI::cpu
