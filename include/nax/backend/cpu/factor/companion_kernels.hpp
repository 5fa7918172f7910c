#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "nax/backend/cpu/factor/companion.hpp"
#include "nax/backend/cpu/factor/eigen_dense.hpp"

// Eigen's eigenvalues take long to parse: files that call the library read companion.hpp alone.
NAX_BEGIN
namespace cpu {
namespace detail {

// The companion matrix of a monic polynomial: its first row is less the coefficients, ones lie below the
// diagonal.
template <class Matrix, class F>
Matrix companion(std::int64_t n, const F& coefficient) {
  Matrix m = Matrix::Zero(n, n);
  for (std::int64_t i = 0; i < n; ++i) m(0, i) = -coefficient(i + 1);
  for (std::int64_t i = 1; i < n; ++i) m(i, i - 1) = 1;
  return m;
}

}  // namespace detail

template <class T>
void polynomial_roots(const std::complex<T>* p, std::int64_t n, std::complex<T>* roots) {
  bool finite = true, real = true;
  for (std::int64_t i = 0; i <= n; ++i) {
    const std::complex<T> c = p[i] / p[0];
    finite &= std::isfinite(c.real()) && std::isfinite(c.imag());
    real &= p[i].imag() == 0;
  }
  if (!finite) {
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    for (std::int64_t i = 0; i < n; ++i) roots[i] = {nan, nan};
    return;
  }
  if (real) {
    using Matrix = Eigen::MatrixX<T>;
    const auto m = detail::companion<Matrix>(n, [=](std::int64_t i) { return p[i].real() / p[0].real(); });
    const Eigen::EigenSolver<Matrix> solver(m, false);
    for (std::int64_t i = 0; i < n; ++i) roots[i] = solver.eigenvalues()(i);
  } else {
    using Matrix = Eigen::MatrixX<std::complex<T>>;
    const auto m = detail::companion<Matrix>(n, [=](std::int64_t i) { return p[i] / p[0]; });
    const Eigen::ComplexEigenSolver<Matrix> solver(m, false);
    for (std::int64_t i = 0; i < n; ++i) roots[i] = solver.eigenvalues()(i);
  }
}

}  // namespace cpu
NAX_END
