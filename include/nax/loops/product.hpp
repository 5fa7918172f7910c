#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// A product c = a b of matrices (m, k), (k, n) and (m, n); strides in elements.
struct Product {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row, c_column;
};
// An axis before those of the matrices: its extent and the strides of a, b and c along it (0 in c: summed).
struct BatchAxis {
  std::int64_t extent, a, b, c;
  bool summed;
};

// A matrix of a batch: element (i, j) of matrix b lies at data + (b * batch + i * row + j * column) elements.
struct Matrix {
  char* data;
  std::int64_t batch, row, column;
};

}  // namespace loops
NAX_END
