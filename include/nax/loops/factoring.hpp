#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// Describes factorisations of a batch of row-major matrices (m, n), one after the other. Results, in order:
//
//   lu        L and U in one (m, n), and the swaps of rows (int32, min(m, n))
//   cholesky  L, of n x n matrices of which the lower triangle is read
//   qr        Q (or none), R; complete: Q is m x m
//   svd       U, S, V^H (the first and the last, or none); complete: U and V are square
//   eigh      eigenvalues, eigenvectors (or none); lower: the triangle that is read
//   eig       eigenvalues, eigenvectors, a one where each has its largest component (the last two, or none)
NAX_BEGIN
namespace loops {

enum class Factorisation : std::uint8_t { lu, cholesky, qr, svd, eigh, eig };

struct Factoring {
  Factorisation kind;
  std::int64_t batch = 0, m = 0, n = 0;
  bool complete = false, lower = false;
};

}  // namespace loops
NAX_END
