#pragma once

#include <cstdint>

#include "nax/core/dtype.hpp"

// Describes factorisations of a batch of row-major matrices (m, n), one after the other. Results, in order:
//
//   lu        L and U in one (m, n), and the swaps of rows (int32, min(m, n))
//   cholesky  L, of n x n matrices of which the lower triangle is read
//   qr        Q (or none), R; complete: Q is m x m
//   svd       U, S, V^H (the first and the last, or none); complete: U and V are square
//   eigh      eigenvalues, eigenvectors (or none); lower: the triangle that is read
//   eig       eigenvalues, eigenvectors, a one where each has its largest component (the last two, or none)
//   triangle  the lower or upper triangle, its diagonal times `diagonal`, and zeros elsewhere
//   det       determinants, one number a matrix, 1 where n = 0
//   slogdet   their signs (complex: phases), and the logarithms of their absolute values
//   adjugate  the transposed matrices of cofactors, n > 0
//   schur     T and Z of a = Z T Z^H
//   sqrtm     the principal square root, of complex matrices
NAX_BEGIN
namespace loops {

enum class Factorisation : std::uint8_t {
  lu,
  cholesky,
  qr,
  svd,
  eigh,
  eig,
  triangle,
  det,
  slogdet,
  adjugate,
  schur,
  sqrtm
};

struct Factoring {
  Factorisation kind;
  std::int64_t batch = 0, m = 0, n = 0;
  bool complete = false, lower = false;
  double diagonal = 1;
};

constexpr const char* name_of(Factorisation kind) {
  constexpr const char* names[] = {"lu",       "cholesky", "qr",      "svd",      "eigh",  "eig",
                                   "triangle", "det",      "slogdet", "adjugate", "schur", "sqrtm"};
  return names[static_cast<int>(kind)];
}
constexpr int result_count(Factorisation kind) {
  constexpr int counts[] = {2, 1, 2, 3, 2, 3, 1, 1, 2, 1, 2, 1};
  return counts[static_cast<int>(kind)];
}
// How many elements of result `i` there are for each matrix.
inline std::int64_t result_size(const Factoring& f, int i) {
  const std::int64_t k = f.m < f.n ? f.m : f.n, square = f.n * f.n;
  switch (f.kind) {
    case Factorisation::lu:
      return i == 0 ? f.m * f.n : k;
    case Factorisation::qr:
      return (i == 0 ? f.m : f.n) * (f.complete ? f.m : k);
    case Factorisation::svd:
      if (i == 1) return k;
      return i == 0 ? f.m * (f.complete ? f.m : k) : f.n * (f.complete ? f.n : k);
    case Factorisation::eigh:
    case Factorisation::eig:
      return i == 0 ? f.n : square;
    case Factorisation::det:
    case Factorisation::slogdet:
      return 1;
    case Factorisation::cholesky:
    case Factorisation::triangle:
    case Factorisation::adjugate:
    case Factorisation::schur:
    case Factorisation::sqrtm:
      break;
  }
  return f.m * f.n;
}
// Their type, for matrices of this one.
inline DType result_dtype(const Factoring& f, int i, DType dtype) {
  const bool wide = dtype == DType::float64 || dtype == DType::complex128;
  const DType real = wide ? DType::float64 : DType::float32,
              complex = wide ? DType::complex128 : DType::complex64;
  switch (f.kind) {
    case Factorisation::lu:
      return i == 0 ? dtype : DType::int32;
    case Factorisation::svd:
    case Factorisation::slogdet:
      return i == 1 ? real : dtype;
    case Factorisation::eigh:
      return i == 0 ? real : dtype;
    case Factorisation::eig:
      return i == 2 ? real : complex;
    case Factorisation::cholesky:
    case Factorisation::qr:
    case Factorisation::triangle:
    case Factorisation::det:
    case Factorisation::adjugate:
    case Factorisation::schur:
    case Factorisation::sqrtm:
      break;
  }
  return dtype;
}

// rows = the order that k swaps make of 0, 1, ... m - 1. Returns whether each names a row; one that does not
// is left out.
constexpr bool order_of_swaps(std::int64_t k, std::int64_t m, const std::int32_t* swaps, std::int32_t* rows) {
  bool good = true;
  for (std::int64_t i = 0; i < m; ++i) rows[i] = static_cast<std::int32_t>(i);
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int32_t with = swaps[i], row = rows[i];
    if (with < 0 || with >= m) {
      good = false;
      continue;
    }
    rows[i] = rows[with];
    rows[with] = row;
  }
  return good;
}

}  // namespace loops
NAX_END
