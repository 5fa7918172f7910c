#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "nax/backend/cpu/factor/eigen_dense.hpp"
#include "nax/backend/cpu/factor/factorisations.hpp"
#include "nax/backend/cpu/factor/lapack.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Eigen::Map<const Rows<T>> rows_of(const T* a, std::int64_t m, std::int64_t n) {
  return {a, m, n};
}
template <class T>
Eigen::Map<Rows<T>> rows_of(T* a, std::int64_t m, std::int64_t n) {
  return {a, m, n};
}

template <class T>
bool is_finite(T x) {
  if constexpr (is_complex_v<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else
    return std::isfinite(x);
}
template <class T>
bool all_finite(const T* a, std::int64_t size) {
  return std::all_of(a, a + size, is_finite<T>);
}
template <class T>
void fill_nan(T* a, std::int64_t size) {
  constexpr auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  if (!a) return;
  if constexpr (is_complex_v<T>)
    std::fill(a, a + size, T(nan, nan));
  else
    std::fill(a, a + size, nan);
}
template <class T>
void fill_identity(T* a, std::int64_t n) {
  if (a) rows_of(a, n, n).setIdentity();
}

// The larger of the sizes of the parts of x.
template <class T>
real_t<T> largest_part(T x) {
  if constexpr (is_complex_v<T>)
    return std::max(std::abs(x.real()), std::abs(x.imag()));
  else
    return std::abs(x);
}
// x times 2^power; rounded once where the result is subnormal, infinite where it is too large.
template <class T>
T times_power_of_two(T x, int power) {
  if constexpr (is_complex_v<T>)
    return T(std::ldexp(x.real(), power), std::ldexp(x.imag(), power));
  else
    return std::ldexp(x, power);
}
// The power of two to divide finite elements by, `step` apart, so that squares of the result neither overflow
// nor vanish; 0 where they do not as it is.
template <class T>
int excess_exponent(const T* a, std::int64_t count, std::int64_t step = 1) {
  real_t<T> most = 0;
  for (std::int64_t i = 0; i < count; ++i) most = std::max(most, largest_part(a[i * step]));
  if (most == 0) return 0;
  constexpr int tame = std::numeric_limits<real_t<T>>::max_exponent / 4;
  const int exponent = std::ilogb(most);
  return std::abs(exponent) < tame ? 0 : exponent;
}
template <class T>
void scale_by_power(Dense<T>& a, int power) {
  if (power == 0) return;
  a = a.unaryExpr([power](const T& x) { return times_power_of_two(x, power); }).eval();
}

}  // namespace detail

template <class T>
void qr(const T* a, std::int64_t m, std::int64_t n, bool complete, T* q, T* r) {
  const std::int64_t k = complete ? m : std::min(m, n);
  if (!detail::all_finite(a, m * n)) return detail::fill_nan(q, m * k), detail::fill_nan(r, k * n);
  if (m == 0 || n == 0) {
    if (q && k > 0) detail::fill_identity(q, m);
    return;
  }
  if (const auto* by = lapack_for<T>(std::min(m, n)); by && by->qr(a, m, n, complete, q, r)) return;
  // Columns scaled by powers of two have the same Q, and R scaled alike, to the last bit.
  detail::Dense<T> scaled = detail::rows_of(a, m, n);
  std::vector<int> powers(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    const int power = powers[static_cast<std::size_t>(j)] = detail::excess_exponent(a + j, m, n);
    if (power != 0)
      for (std::int64_t i = 0; i < m; ++i) scaled(i, j) = detail::times_power_of_two(scaled(i, j), -power);
  }
  const Eigen::HouseholderQR<detail::Dense<T>> factors(scaled);
  if (q) {
    detail::Dense<T> thin = detail::Dense<T>::Identity(m, k);
    thin.applyOnTheLeft(factors.householderQ());
    detail::rows_of(q, m, k) = thin;
  }
  auto to = detail::rows_of(r, k, n);
  to.setZero();
  const std::int64_t height = std::min(k, n);
  to.topRows(height) = factors.matrixQR().topRows(height).template triangularView<Eigen::Upper>();
  for (std::int64_t j = 0; j < n; ++j)
    if (const int power = powers[static_cast<std::size_t>(j)]; power != 0)
      for (std::int64_t i = 0; i < height; ++i) to(i, j) = detail::times_power_of_two(to(i, j), power);
}

template <class T>
void svd(const T* a, std::int64_t m, std::int64_t n, bool full, T* u, real_t<T>* s, T* vh) {
  const std::int64_t k = std::min(m, n), rows = full ? m : k, columns = full ? n : k;
  const auto refuse = [&] {
    detail::fill_nan(u, m * rows), detail::fill_nan(s, k), detail::fill_nan(vh, columns * n);
  };
  if (!detail::all_finite(a, m * n)) return refuse();
  if (k == 0) {
    if (full) detail::fill_identity(u, m), detail::fill_identity(vh, n);
    return;
  }
  if (const auto* by = lapack_for<T>(k); by && by->svd(a, m, n, full, u, s, vh)) return;
  const unsigned options = !u     ? 0
                           : full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                  : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const auto give = [&](const auto& factors) {
    Eigen::Map<Eigen::Matrix<real_t<T>, Eigen::Dynamic, 1>>(s, k) = factors.singularValues();
    if (!u) return;
    detail::rows_of(u, m, rows) = factors.matrixU();
    detail::rows_of(vh, columns, n) = factors.matrixV().adjoint();
  };
  constexpr std::int64_t little = 16;  // below, the two-sided Jacobi iteration is as fast, and more accurate
  if (k < little) {
    give(Eigen::JacobiSVD<detail::Dense<T>>(detail::rows_of(a, m, n), options));
  } else {
    const Eigen::BDCSVD<detail::Dense<T>> factors(detail::rows_of(a, m, n), options);
    if (factors.info() != Eigen::Success) return refuse();
    give(factors);
  }
}

template <class T>
void eigh(const T* a, std::int64_t n, bool lower, real_t<T>* w, T* v) {
  if (n == 0) return;
  // The other triangle is not read, so it may hold anything.
  detail::Dense<T> x = detail::rows_of(a, n, n);
  if (!lower) x.adjointInPlace();
  for (std::int64_t j = 0; j < n; ++j)
    if (!detail::all_finite(x.data() + j * n + j, n - j))
      return detail::fill_nan(w, n), detail::fill_nan(v, n * n);
  if (const auto* by = lapack_for<T>(n); by && by->eigh(a, n, lower, w, v)) return;
  const Eigen::SelfAdjointEigenSolver<detail::Dense<T>> factors(
      x, v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (factors.info() != Eigen::Success) return detail::fill_nan(w, n), detail::fill_nan(v, n * n);
  Eigen::Map<Eigen::Matrix<real_t<T>, Eigen::Dynamic, 1>>(w, n) = factors.eigenvalues();
  if (v) detail::rows_of(v, n, n) = factors.eigenvectors();
}

namespace detail {

// Scales rows and columns by powers of 2 until their norms are alike, so that the rounding of large elements
// does not drown small ones (Osborne 1960; Parlett and Reinsch 1969): a becomes d^-1 a d, the d are returned.
template <class T>
Eigen::Matrix<real_t<T>, Eigen::Dynamic, 1> balance(Dense<T>& a) {
  using R = real_t<T>;
  const Eigen::Index n = a.rows();
  Eigen::Matrix<R, Eigen::Dynamic, 1> d = Eigen::Matrix<R, Eigen::Dynamic, 1>::Ones(n);
  constexpr int most_sweeps = 30;
  bool changed = true;
  for (int round = 0; changed && round < most_sweeps; ++round) {
    changed = false;
    for (Eigen::Index i = 0; i < n; ++i) {
      const R size = std::abs(a(i, i));
      const R column = a.col(i).cwiseAbs().sum() - size, row = a.row(i).cwiseAbs().sum() - size;
      if (!(column > 0) || !(row > 0) || !std::isfinite(column) || !std::isfinite(row)) continue;
      const int power = (std::ilogb(row) - std::ilogb(column)) / 2;
      const R f = std::ldexp(R(1), power);
      if (power == 0 || !((column * f + row / f) < R(0.95) * (column + row))) continue;
      changed = true;
      d(i) *= f;
      a.col(i) *= f;
      a.row(i) /= f;
    }
  }
  return d;
}

// Scales eigenvectors to norm 1, and turns them so that their largest component is real.
template <class C, class R>
void normalise_columns(Dense<C>& v, bool keep_real, R* largest) {
  const Eigen::Index n = v.rows();
  auto marks = rows_of(largest, n, n);
  marks.setZero();
  for (Eigen::Index j = 0; j < n; ++j) {
    v.col(j) /= v.col(j).norm();
    Eigen::Index k = 0;
    v.col(j).cwiseAbs2().maxCoeff(&k);
    marks(k, j) = R(1);
    if (keep_real && v.col(j).imag().isZero(R(0))) continue;
    const C top = v(k, j);
    v.col(j) *= std::conj(top) / std::abs(top);
    v(k, j) = C(v(k, j).real());
  }
}

}  // namespace detail

template <class T>
void eig(const T* a, std::int64_t n, complex_t<T>* w, complex_t<T>* v, real_t<T>* largest) {
  using C = complex_t<T>;
  const auto refuse = [&] {
    detail::fill_nan(w, n), detail::fill_nan(v, n * n), detail::fill_nan(largest, n * n);
  };
  if (n == 0) return;
  if (!detail::all_finite(a, n * n)) return refuse();
  const auto give_vectors = [&](detail::Dense<C> vectors) {
    detail::normalise_columns(vectors, !is_complex_v<T>, largest);
    detail::rows_of(v, n, n) = vectors;
  };
  if (const auto* by = lapack_for<T>(n); by && by->eig(a, n, w, v)) {
    if (v) give_vectors(detail::rows_of(v, n, n));
    return;
  }
  detail::Dense<T> x = detail::rows_of(a, n, n);
  const int power = detail::excess_exponent(a, n * n);
  detail::scale_by_power(x, -power);
  const auto scales = detail::balance(x);
  const auto give = [&](const auto& factors) {
    if (factors.info() != Eigen::Success) return refuse();
    for (std::int64_t i = 0; i < n; ++i)
      w[i] = detail::times_power_of_two(C(factors.eigenvalues()(i)), power);
    if (v) give_vectors(scales.template cast<C>().asDiagonal() * factors.eigenvectors());
  };
  if constexpr (is_complex_v<T>)
    give(Eigen::ComplexEigenSolver<detail::Dense<T>>(x, v != nullptr));
  else
    give(Eigen::EigenSolver<detail::Dense<T>>(x, v != nullptr));
}

template <class T>
void schur(const T* a, std::int64_t n, T* t, T* z) {
  if (n == 0) return;
  const auto refuse = [&] { detail::fill_nan(t, n * n), detail::fill_nan(z, n * n); };
  if (!detail::all_finite(a, n * n)) return refuse();
  if (const auto* by = lapack_for<T>(n); by && by->schur(a, n, t, z)) return;
  detail::Dense<T> x = detail::rows_of(a, n, n);
  const int power = detail::excess_exponent(a, n * n);
  detail::scale_by_power(x, -power);
  const auto give = [&](const auto& factors) {
    if (factors.info() != Eigen::Success) return refuse();
    x = factors.matrixT();
    detail::scale_by_power(x, power);
    detail::rows_of(t, n, n) = x;
    detail::rows_of(z, n, n) = factors.matrixU();
  };
  if constexpr (is_complex_v<T>)
    give(Eigen::ComplexSchur<detail::Dense<T>>(x));
  else
    give(Eigen::RealSchur<detail::Dense<T>>(x));
}

template <class T>
void solve_sylvester(const T* a, std::int64_t m, const T* b, std::int64_t n, T* x) {
  using C = complex_t<T>;
  if (m == 0 || n == 0) return;
  if (!detail::all_finite(a, m * m) || !detail::all_finite(b, n * n)) return detail::fill_nan(x, m * n);
  const Eigen::ComplexSchur<detail::Dense<C>> left(detail::rows_of(a, m, m).template cast<C>().eval());
  const Eigen::ComplexSchur<detail::Dense<C>> right(detail::rows_of(b, n, n).template cast<C>().eval());
  if (left.info() != Eigen::Success || right.info() != Eigen::Success) return detail::fill_nan(x, m * n);
  detail::Dense<C> y =
      left.matrixU().adjoint() * detail::rows_of(x, m, n).template cast<C>() * right.matrixU();
  detail::Dense<C> shifted = left.matrixT();
  for (Eigen::Index k = 0; k < n; ++k) {
    y.col(k) -= y.leftCols(k) * right.matrixT().col(k).head(k);
    shifted.diagonal() = left.matrixT().diagonal().array() + right.matrixT()(k, k);
    shifted.template triangularView<Eigen::Upper>().solveInPlace(y.col(k));
  }
  const detail::Dense<C> full = left.matrixU() * y * right.matrixU().adjoint();
  if constexpr (is_complex_v<T>)
    detail::rows_of(x, m, n) = full;
  else
    detail::rows_of(x, m, n) = full.real();
}

template <class T>
void sqrtm(const T* a, std::int64_t n, T* root) {
  if (n == 0) return;
  if (!detail::all_finite(a, n * n)) return detail::fill_nan(root, n * n);
  // The root of 4^half a is 2^half times that of a.
  const int half = detail::excess_exponent(a, n * n) / 2;
  detail::Dense<T> x = detail::rows_of(a, n, n);
  detail::scale_by_power(x, -2 * half);
  const Eigen::ComplexSchur<detail::Dense<T>> factors(x);
  if (factors.info() != Eigen::Success) return detail::fill_nan(root, n * n);
  const detail::Dense<T>& t = factors.matrixT();
  detail::Dense<T> r = detail::Dense<T>::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    r(j, j) = std::sqrt(t(j, j));
    for (Eigen::Index i = j; i-- > 0;) {
      const Eigen::Index between = j - i - 1;
      T rest = t(i, j);
      if (between > 0) rest -= (r.row(i).segment(i + 1, between) * r.col(j).segment(i + 1, between)).value();
      r(i, j) = rest == T(0) ? T(0) : rest / (r(i, i) + r(j, j));
    }
  }
  x = factors.matrixU() * r * factors.matrixU().adjoint();
  detail::scale_by_power(x, half);
  detail::rows_of(root, n, n) = x;
}

}  // namespace cpu
NAX_END
