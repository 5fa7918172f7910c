#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

// Dense linear algebra of solvers: vectors and column-major matrices of doubles, without arrays or tapes. The
// steps of a solver are small, and must not allocate nodes or meet the transforms at work.
NAX_BEGIN
namespace optimize::detail {

using Vector = std::vector<double>;

// A number in the text of an error, in six digits.
struct InText {
  double value;
};
NAX_ENGINE std::string to_string(InText number);

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
NAX_ENGINE double norm(const Vector& a);      // without overflow or underflow
NAX_ENGINE double norm_inf(const Vector& a);  // NaN where an element is
NAX_ENGINE bool all_finite(const Vector& a);

// A matrix, column by column.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  Vector data;
  Matrix() = default;
  Matrix(std::size_t m, std::size_t n) : rows(m), columns(n), data(m * n) {}
  double& operator()(std::size_t i, std::size_t j) { return data[j * rows + i]; }
  double operator()(std::size_t i, std::size_t j) const { return data[j * rows + i]; }
  double* column(std::size_t j) { return data.data() + j * rows; }
  const double* column(std::size_t j) const { return data.data() + j * rows; }
};
NAX_ENGINE Vector times(const Matrix& a, const Vector& x);
NAX_ENGINE Vector transpose_times(const Matrix& a, const Vector& x);

// The factorisation a P = Q R with pivoted columns, Q^T f beside it: MINPACK's qrfac. R is k x n, k = min(m,
// n); rows below are not kept.
struct PivotedQr {
  Matrix r;                        // k x n, upper triangular
  std::vector<std::size_t> order;  // column j of R is column order[j] of a
  Vector qtf;                      // the first k elements of Q^T f
};
NAX_ENGINE PivotedQr pivoted_qr(Matrix a, Vector f);

// The size of roundings beside a column, and beside the largest element of R.
inline constexpr double rank_tolerance = 1e-14;
NAX_ENGINE bool is_singular(const PivotedQr& qr);
// The x of least norm error in a x = f, by its factorisation; of those the x of least |D x|. D is 1 where no
// diagonal is given.
NAX_ENGINE Vector least_squares_solution(const PivotedQr& qr, double rcond, const Vector& d = {});

// The step p = argmin |a p + f| with |D p| <= delta, within a tenth (Levenberg and Marquardt's, MINPACK's
// lmpar). `par` is the parameter of the call before, and becomes that of this one.
NAX_ENGINE Vector trust_region_step(const PivotedQr& qr, const Vector& d, double delta, double& par);

// The lower factor of a symmetric positive definite matrix in place; false where it is not.
NAX_ENGINE bool cholesky_in_place(Matrix& a);
NAX_ENGINE void solve_cholesky(const Matrix& l, Vector& b);
// The inverse of a symmetric matrix a^T a from R: (a^T a)^-1, n x n; empty where R is singular to `rcond`.
NAX_ENGINE Matrix normal_inverse(const PivotedQr& qr, double rcond);
// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations.
NAX_ENGINE void symmetric_eigen(Matrix a, Vector& values, Matrix& vectors);
// x with a x = b by elimination with pivoted rows; false where a pivot is zero or not finite.
NAX_ENGINE bool solve_general(Matrix a, Vector& b);

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/dense-inl.hpp"
#endif
