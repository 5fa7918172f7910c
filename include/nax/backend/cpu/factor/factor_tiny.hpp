#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nax/backend/cpu/packets/packet.hpp"

// Factorisations of many matrices of a few rows: a packet holds one element of each of several matrices, so
// that divisions, roots and the choice of pivots are done for all at once. The arithmetic is that of
// factor.hpp, element by element and in its order; what a lane computes does not depend on the others.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t most_tiny_order = 8;   // rows and columns
inline constexpr std::int64_t most_tiny_right = 16;  // columns of a right-hand side

template <class T>
constexpr bool has_tiny_factors(std::int64_t n) {
  return simd::has_packet<T> && n > 0 && n <= most_tiny_order;
}

// m x n matrices, one a lane, from from[lane][i * row + j * column] to to[i * n + j].
template <class T>
void load_matrices(const T* const* from, std::int64_t row, std::int64_t column, std::int64_t m,
                   std::int64_t n, simd::Packet<T>* to) {
  using P = simd::Packet<T>;
  constexpr int w = P::size;
  std::int64_t e = 0;
  if (column == 1 && row == n)
    for (; e + w <= m * n; e += w) {
      P block[w];
      NAX_UNROLL
      for (int l = 0; l < w; ++l) block[l] = P::load(from[l] + e);
      simd::transpose(block);
      NAX_UNROLL
      for (int l = 0; l < w; ++l) to[e + l] = block[l];
    }
  for (; e < m * n; ++e) {
    T lanes[w];
    for (int l = 0; l < w; ++l) lanes[l] = from[l][e / n * row + e % n * column];
    to[e] = P::load(lanes);
  }
}
// The first `some` lanes of `size` elements, one lane after the other.
template <class T>
void store_matrices(const simd::Packet<T>* from, std::int64_t size, T* to, std::int64_t some) {
  using P = simd::Packet<T>;
  constexpr int w = P::size;
  std::int64_t e = 0;
  for (; e + w <= size; e += w) {
    P block[w];
    NAX_UNROLL
    for (int l = 0; l < w; ++l) block[l] = from[e + l];
    simd::transpose(block);
    for (std::int64_t l = 0; l < some; ++l) block[l].store(to + l * size + e);
  }
  for (; e < size; ++e) {
    T lanes[w];
    from[e].store(lanes);
    for (std::int64_t l = 0; l < some; ++l) to[l * size + e] = lanes[l];
  }
}

// n x n matrices `a` become U, in the upper triangle and on the diagonal, and b (n x m) becomes L^-1 P b: the
// elimination with row pivots. The signs of the permutations are returned.
template <class T>
simd::Packet<T> eliminate(simd::Packet<T>* a, std::int64_t n, simd::Packet<T>* b, std::int64_t m) {
  using P = simd::Packet<T>;
  P sign(T(1));
  const auto swap_where = [](simd::Mask<T> mask, P& x, P& y) {
    const P before = x;
    x = select(mask, y, x);
    y = select(mask, before, y);
  };
  for (std::int64_t k = 0; k < n; ++k) {
    P* const top = a + k * n;
    P best = abs(top[k]), pivot(static_cast<T>(k));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const P size = abs(a[i * n + k]);
      const simd::Mask<T> larger = size > best;
      best = select(larger, size, best);
      pivot = select(larger, P(static_cast<T>(i)), pivot);
    }
    const simd::Mask<T> moves = pivot != P(static_cast<T>(k));
    if (any(moves)) {
      sign = select(moves, -sign, sign);
      for (std::int64_t i = k + 1; i < n; ++i) {
        const simd::Mask<T> here = pivot == P(static_cast<T>(i));
        if (!any(here)) continue;
        for (std::int64_t j = k; j < n; ++j) swap_where(here, top[j], a[i * n + j]);
        for (std::int64_t c = 0; c < m; ++c) swap_where(here, b[k * m + c], b[i * m + c]);
      }
    }
    const P inverse = P(T(1)) / top[k];
    // Pivots whose reciprocal is no normal number divide.
    constexpr T least = std::numeric_limits<T>::min();
    const simd::Mask<T> divides = (best < P(least)) | (best > P(1 / least));
    const bool some_divide = any(divides);
    for (std::int64_t i = k + 1; i < n; ++i) {
      P* const row = a + i * n;
      const simd::Mask<T> counts = row[k] != P(T(0));  // a zero meets no infinity
      P factor = kept(counts, row[k] * inverse);
      if (some_divide) factor = select(divides, kept(counts, row[k] / top[k]), factor);
      for (std::int64_t j = k + 1; j < n; ++j) row[j] = select(counts, row[j] - factor * top[j], row[j]);
      for (std::int64_t c = 0; c < m; ++c) b[i * m + c] = b[i * m + c] - factor * b[k * m + c];
    }
  }
  return sign;
}

// x (n x m, dense, one after the other) = a^-1 b for the first `some` of a packet's width of systems; b null:
// the identity.
template <class T>
void solve_tiny(const T* const* a, std::int64_t a_row, std::int64_t a_column, std::int64_t n,
                const T* const* b, std::int64_t b_row, std::int64_t b_column, std::int64_t m, T* x,
                std::int64_t some) {
  using P = simd::Packet<T>;
  P matrix[most_tiny_order * most_tiny_order], right[most_tiny_order * most_tiny_right];
  load_matrices<T>(a, a_row, a_column, n, n, matrix);
  if (b) {
    load_matrices<T>(b, b_row, b_column, n, m, right);
  } else {
    for (std::int64_t e = 0; e < n * n; ++e) right[e] = P(T(e % (n + 1) == 0 ? 1 : 0));
  }
  eliminate<T>(matrix, n, right, m);
  for (std::int64_t i = n; i-- > 0;)
    for (std::int64_t c = 0; c < m; ++c) {
      P sum = right[i * m + c];
      for (std::int64_t j = n; --j > i;) sum = sum - matrix[i * n + j] * right[j * m + c];
      right[i * m + c] = sum / matrix[i * n + i];
    }
  store_matrices<T>(right, n * m, x, some);
}

// The diagonals of U, n numbers for each of the first `some` matrices, and the signs of their permutations.
template <class T>
void diagonals_tiny(const T* const* a, std::int64_t row, std::int64_t column, std::int64_t n, T* diagonals,
                    T* signs, std::int64_t some) {
  using P = simd::Packet<T>;
  P matrix[most_tiny_order * most_tiny_order], diagonal[most_tiny_order];
  load_matrices<T>(a, row, column, n, n, matrix);
  const P sign = eliminate<T>(matrix, n, nullptr, 0);
  for (std::int64_t i = 0; i < n; ++i) diagonal[i] = matrix[i * (n + 1)];
  store_matrices<T>(diagonal, n, diagonals, some);
  store_matrices<T>(&sign, 1, signs, some);
}

// The Cholesky factors of `count` dense matrices, one after the other, in their place.
template <class T>
void cholesky_tiny(T* a, std::int64_t n, std::int64_t count) {
  using P = simd::Packet<T>;
  constexpr std::int64_t w = P::size;
  P matrix[most_tiny_order * most_tiny_order];
  for (std::int64_t begin = 0; begin < count; begin += w, a += w * n * n) {
    const std::int64_t some = std::min(w, count - begin);
    const T* lanes[w];
    for (std::int64_t l = 0; l < w; ++l) lanes[l] = a + std::min(l, some - 1) * n * n;
    load_matrices<T>(lanes, n, 1, n, n, matrix);
    for (std::int64_t k = 0; k < n; ++k) {
      const P d = sqrt(matrix[k * n + k]);  // NaN where it is negative
      matrix[k * n + k] = d;
      for (std::int64_t i = k + 1; i < n; ++i) matrix[i * n + k] = matrix[i * n + k] / d;
      for (std::int64_t i = k + 1; i < n; ++i)
        for (std::int64_t j = k + 1; j <= i; ++j)
          matrix[i * n + j] = matrix[i * n + j] - matrix[i * n + k] * matrix[j * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) matrix[k * n + j] = P(T(0));
    }
    simd::Mask<T> definite = matrix[0] > P(T(0));
    for (std::int64_t k = 1; k < n; ++k) definite = definite & (matrix[k * n + k] > P(T(0)));
    const P nan(std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) matrix[i * n + j] = select(definite, matrix[i * n + j], nan);
    store_matrices<T>(matrix, n * n, a, some);
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
