#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "nax/backend/cpu/factor/factor.hpp"

// Adjugates of dense row-major matrices of float, double or complex.
NAX_BEGIN
namespace cpu {

// Holds x times 2^power, for products that leave the range of numbers on the way.
template <class T>
class ScaledNumber {
 public:
  explicit ScaledNumber(T x) : x_(x) { normalise(); }
  void multiply(T by) {
    const ScaledNumber factor(by);
    x_ *= factor.x_;
    power_ += factor.power_;
    normalise();
  }
  void shift(std::int64_t power) { power_ += power; }
  bool is_zero() const { return x_ == T(0); }
  // The number times y, rounded once unless y is subnormal.
  T times(T y) const {
    ScaledNumber product(y);
    product.x_ *= x_;
    product.power_ += power_;
    product.normalise();
    constexpr std::int64_t most = 1 << 20;
    return scaled(product.x_, static_cast<int>(std::clamp(product.power_, -most, most)));
  }

 private:
  static T scaled(T x, int power) {
    if constexpr (requires { x.imag(); })
      return T(std::ldexp(x.real(), power), std::ldexp(x.imag(), power));
    else
      return std::ldexp(x, power);
  }
  void normalise() {
    auto size = std::abs(std::real(x_));
    if constexpr (requires { x_.imag(); }) size = std::max(size, std::abs(x_.imag()));
    if (size == 0 || !std::isfinite(size)) return;
    const int power = std::ilogb(size);
    x_ = scaled(x_, -power);
    power_ += power;
  }
  T x_;
  std::int64_t power_ = 0;
};

// out (n x n) becomes the adjugate of a, n > 0. With complete pivots P a Q = L U, and the last pivot d alone
// may vanish: the adjugate of U = [[V, u], [0, d]] is det(V) [[d V^-1, -V^-1 u], [0, 1]], and zero where V is
// singular.
template <class T>
void adjugate(const T* a, std::int64_t n, T* out) {
  std::vector<T> u(a, a + n * n), z(static_cast<std::size_t>(n * n), T(0));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n)), columns(rows);
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t i = 0; i < n; ++i) z[index(i * n + i)] = T(1);
  ScaledNumber<T> det(T(1));  // of V, and the signs of the permutations
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t row = k, column = k;
    auto best = pivot_size(u[index(k * n + k)]);
    for (std::int64_t i = k; i < n; ++i)
      for (std::int64_t j = k; j < n; ++j)
        if (const auto size = pivot_size(u[index(i * n + j)]); size > best) best = size, row = i, column = j;
    if (row != k) {
      std::swap_ranges(u.begin() + k * n, u.begin() + (k + 1) * n, u.begin() + row * n);
      std::swap_ranges(z.begin() + k * n, z.begin() + k * n + k, z.begin() + row * n);
      std::swap(rows[index(k)], rows[index(row)]);
      det.multiply(T(-1));
    }
    if (column != k) {
      for (std::int64_t i = 0; i < n; ++i) std::swap(u[index(i * n + k)], u[index(i * n + column)]);
      std::swap(columns[index(k)], columns[index(column)]);
      det.multiply(T(-1));
    }
    if (k == n - 1) break;
    const T top = u[index(k * n + k)];
    det.multiply(top);
    if (det.is_zero()) return std::fill(out, out + n * n, T(0));
    // Below the pivot: L, in z's lower triangle, and what is left of the matrix.
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = z[index(i * n + k)] = u[index(i * n + k)] / top;
      if (factor != T(0))
        detail::subtract_row(u.data() + i * n + k + 1, u.data() + k * n + k + 1, factor, n - k - 1);
    }
  }
  // z becomes the inverse of L.
  std::vector<T> inverse(static_cast<std::size_t>(n * n), T(0));
  for (std::int64_t i = 0; i < n; ++i) inverse[index(i * n + i)] = T(1);
  solve_triangle(z.data(), n, 1, n, true, true, inverse.data(), n);
  const T last = u[index(n * n - 1)];
  const T* const bottom = inverse.data() + (n - 1) * n;
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    T* const row = inverse.data() + i * n;
    for (std::int64_t j = 0; j < n; ++j) row[j] *= last;
    detail::subtract_row(row, bottom, u[index(i * n + n - 1)], n);
  }
  solve_triangle(u.data(), n, 1, n - 1, false, false, inverse.data(), n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      out[columns[index(i)] * n + rows[index(j)]] = det.times(inverse[index(i * n + j)]);
}

}  // namespace cpu
NAX_END
