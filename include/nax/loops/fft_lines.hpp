#pragma once

#include <cstdint>

#include "nax/core/shape.hpp"

// Describes discrete Fourier transforms of lines of an array.
NAX_BEGIN
namespace loops {

enum class FftKind : unsigned char {
  complex,     // n complex numbers to n
  to_complex,  // n real numbers to the first n / 2 + 1 of their transform, which is Hermitian
  to_real      // the other way: the imaginary parts of the ends do not count
};

// One transform along an axis for each place on the others. Strides are in elements.
struct FftLines {
  FftKind kind = FftKind::complex;
  // Inverse complex transform: e^(+2 pi i j k / n). Transforms to real numbers are always inverse, from them
  // never.
  bool inverse = false;
  std::int64_t n = 0;
  double scale = 1;
  // Of half a transform, the result or the operand: conjugated, and times `middle` but for the ends that have
  // no partner (0, and n / 2 for an even n).
  double middle = 1;
  bool conjugate = false;
  Dims others, from, to;  // the extents of the other axes; their strides
  std::int64_t from_axis = 0, to_axis = 0;
};

}  // namespace loops
NAX_END
