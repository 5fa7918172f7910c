#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "nax/backend/cpu/gemm/gemm.hpp"

// Factorisations of small and middling row-major matrices of float, double or complex, and solving with them.
// Blocked factorisations: the rest of a matrix behind a block of columns is updated by one matrix product.
NAX_BEGIN
namespace cpu {
namespace detail {

// y[0 .. n) -= factor * x[0 .. n)
template <class T>
void subtract_row(T* y, const T* x, T factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] -= factor * x[i];
}

}  // namespace detail

// The size by which pivots are chosen. For complex numbers it is |re| + |im|, as in LAPACK.
template <class T>
auto pivot_size(T x) {
  if constexpr (requires { x.imag(); })
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

// Whether the reciprocal of a number of this size is a normal number.
template <class R>
bool has_reciprocal(R size) {
  return size >= std::numeric_limits<R>::min() && size <= 1 / std::numeric_limits<R>::min();
}

// a (m x n, rows `stride` apart) becomes L and U, rows permuted: row i of the factors was row rows[i] of a,
// after an even (1) or odd (-1) number of swaps, which is returned. `swaps`, if not null, gets the row that
// each of the first min(m, n) was swapped with. A zero pivot stays and makes infinities later.
template <class T>
int lu_factor(T* a, std::int64_t m, std::int64_t n, std::int64_t stride, std::int32_t* rows,
              std::int32_t* swaps = nullptr) {
  constexpr std::int64_t block = 32;
  const std::int64_t size = std::min(m, n);
  int sign = 1;
  for (std::int64_t i = 0; i < m; ++i) rows[i] = static_cast<std::int32_t>(i);
  for (std::int64_t k0 = 0; k0 < size; k0 += block) {
    const std::int64_t k1 = std::min(size, k0 + block);
    for (std::int64_t k = k0; k < k1; ++k) {
      std::int64_t pivot = k;
      auto best = pivot_size(a[k * stride + k]);
      for (std::int64_t i = k + 1; i < m; ++i)
        if (const auto v = pivot_size(a[i * stride + k]); v > best) best = v, pivot = i;
      if (swaps) swaps[k] = static_cast<std::int32_t>(pivot);
      if (pivot != k) {
        std::swap_ranges(a + k * stride, a + k * stride + n, a + pivot * stride);
        std::swap(rows[k], rows[pivot]);
        sign = -sign;
      }
      const T top = a[k * stride + k];
      const bool divides = !has_reciprocal(best);
      const T inverse = divides ? T(1) : T(1) / top;
      for (std::int64_t i = k + 1; i < m; ++i) {
        T* row = a + i * stride;
        if (row[k] == T(0)) continue;
        row[k] = divides ? row[k] / top : row[k] * inverse;
        detail::subtract_row(row + k + 1, a + k * stride + k + 1, row[k], k1 - k - 1);
      }
    }
    if (k1 == n) break;
    for (std::int64_t k = k0; k < k1; ++k)
      for (std::int64_t i = k + 1; i < k1; ++i)
        detail::subtract_row(a + i * stride + k1, a + k * stride + k1, a[i * stride + k], n - k1);
    if (k1 == m) break;
    // The rest: minus L of this block times U of this block.
    const std::int64_t width = k1 - k0, below = m - k1, beside = n - k1;
    const Scratch<T> left(below * width);
    for (std::int64_t i = 0; i < below; ++i)
      for (std::int64_t j = 0; j < width; ++j) left.data()[i * width + j] = -a[(k1 + i) * stride + k0 + j];
    gemm<T>(below, beside, width, left.data(), width, 1, a + k0 * stride + k1, stride, 1,
            a + k1 * stride + k1, stride, 1, true);
  }
  return sign;
}

// b (n x m, row-major) becomes t^-1 b for a triangular t with elements t[i * row + j * column].
template <class T>
void solve_triangle(const T* t, std::int64_t row, std::int64_t column, std::int64_t n, bool lower, bool unit,
                    T* b, std::int64_t m) {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = lower ? k : n - 1 - k;
    T* to = b + i * m;
    for (std::int64_t l = 0; l < k; ++l) {
      const std::int64_t j = lower ? l : n - 1 - l;
      detail::subtract_row(to, b + j * m, t[i * row + j * column], m);
    }
    if (unit) continue;
    const T d = t[i * (row + column)];
    for (std::int64_t c = 0; c < m; ++c) to[c] /= d;
  }
}

// x (n x m) = a^-1 b, a given by its factors.
template <class T>
void lu_solve(const T* lu, const std::int32_t* rows, std::int64_t n, const T* b, T* x, std::int64_t m) {
  for (std::int64_t i = 0; i < n; ++i) std::copy(b + rows[i] * m, b + (rows[i] + 1) * m, x + i * m);
  solve_triangle(lu, n, 1, n, true, true, x, m);
  solve_triangle(lu, n, 1, n, false, false, x, m);
}

// The lower triangle of a symmetric (Hermitian) positive definite a (n x n, row-major) becomes its Cholesky
// factor, the upper one zeros; all of it is NaN where a is not positive definite.
template <class T>
void cholesky_factor(T* a, std::int64_t n) {
  constexpr std::int64_t block = 32;
  const auto real = [](T x) {
    if constexpr (requires { x.imag(); })
      return x.real();
    else
      return x;
  };
  const auto conjugate = [](T x) {
    if constexpr (requires { x.imag(); })
      return std::conj(x);
    else
      return x;
  };
  for (std::int64_t k0 = 0; k0 < n; k0 += block) {
    const std::int64_t k1 = std::min(n, k0 + block);
    for (std::int64_t k = k0; k < k1; ++k) {
      const auto d = std::sqrt(real(a[k * n + k]));  // NaN where it is negative
      a[k * n + k] = T(d);
      for (std::int64_t i = k + 1; i < n; ++i) a[i * n + k] /= d;
      for (std::int64_t i = k + 1; i < n; ++i) {
        const T factor = a[i * n + k];
        const std::int64_t last = std::min(i + 1, k1);
        for (std::int64_t j = k + 1; j < last; ++j) a[i * n + j] -= factor * conjugate(a[j * n + k]);
      }
    }
    if (k1 == n) break;
    const std::int64_t width = k1 - k0, below = n - k1;
    const Scratch<T> left(below * width), right(is_complex<T>::value ? below * width : 0);
    for (std::int64_t i = 0; i < below; ++i)
      for (std::int64_t j = 0; j < width; ++j) left.data()[i * width + j] = -a[(k1 + i) * n + k0 + j];
    if constexpr (is_complex<T>::value) {
      for (std::int64_t i = 0; i < below; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          right.data()[i * width + j] = std::conj(a[(k1 + i) * n + k0 + j]);
      gemm<T>(below, below, width, left.data(), width, 1, right.data(), 1, width, a + k1 * n + k1, n, 1,
              true);
    } else {
      gemm<T>(below, below, width, left.data(), width, 1, a + k1 * n + k0, 1, n, a + k1 * n + k1, n, 1, true);
    }
  }
  bool definite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    definite = definite && real(a[i * n + i]) > 0;
    for (std::int64_t j = i + 1; j < n; ++j) a[i * n + j] = T(0);
  }
  if (definite) return;
  for (std::int64_t i = 0; i < n; ++i)
    std::fill(a + i * n, a + i * n + i + 1, T(std::numeric_limits<decltype(real(T()))>::quiet_NaN()));
}

}  // namespace cpu
NAX_END
