#pragma once

#include <cmath>
#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace random::detail {

// The Q of a matrix (rows x columns, row-major, no fewer rows than columns) whose R has a positive diagonal,
// its columns one after the other: Gram and Schmidt, in double and twice over.
template <class T>
void orthonormal_columns(const T* a, std::int64_t rows, std::int64_t columns, double* q) {
  for (std::int64_t c = 0; c < columns; ++c) {
    double* v = q + c * rows;
    for (std::int64_t r = 0; r < rows; ++r) v[r] = static_cast<double>(a[r * columns + c]);
    for (std::int64_t pass = 0; pass < 2 * c; ++pass) {
      const double* u = q + pass % c * rows;
      double dot = 0;
      for (std::int64_t r = 0; r < rows; ++r) dot += u[r] * v[r];
      for (std::int64_t r = 0; r < rows; ++r) v[r] -= dot * u[r];
    }
    double square = 0;
    for (std::int64_t r = 0; r < rows; ++r) square += v[r] * v[r];
    for (std::int64_t r = 0; r < rows; ++r) v[r] /= std::sqrt(square);
  }
}

}  // namespace random::detail
NAX_END
