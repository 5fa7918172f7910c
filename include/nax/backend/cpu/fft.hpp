#pragma once

#include <cstdint>

#include "nax/core/shape.hpp"

// Discrete Fourier transforms of lines of an array. What computes them is in fft_kernels.hpp, which programs
// that have it in a library do not read.
NAX_BEGIN
namespace cpu {

enum class FftKind : unsigned char {
  complex,     // n complex numbers to n
  to_complex,  // n real numbers to the first n / 2 + 1 of their transform, which is Hermitian
  to_real      // the other way: the imaginary parts of the ends do not count
};

// One transform along an axis for each place on the others. Strides are in elements.
struct FftLines {
  FftKind kind = FftKind::complex;
  bool inverse =
      false;  // of complex ones: e^(+2 pi i j k / n). Those to real numbers always are, the third never
  std::int64_t n = 0;
  double scale = 1;
  Dims others, from, to;  // the extents of the other axes; their strides
  std::int64_t from_axis = 0, to_axis = 0;
};

// R is float or double; n at least 1.
template <class R>
void fft(const FftLines& lines, const void* from, void* to);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/fft_kernels.hpp"
#endif
