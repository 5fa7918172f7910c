#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/packet.hpp"

// Batches of products of matrices of a few rows and columns. What a product costs besides its arithmetic
// (packing, blocking, a call) would be many times that; here a product's rows stay in registers, a row of C
// in as many packets as it takes.
//
// Rows are read and written in whole packets. What is read beyond the end of a row of B is the next row, or
// the next matrix, and goes nowhere; what is written beyond the end of a row of C is written again by the
// next row, or the next product. At the end of the batch both go by way of a copy.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t most_tiny = 8;         // rows and columns of C
inline constexpr std::int64_t most_tiny_depth = 16;  // and the inner dimension

// `rows` rows of C = A B; B and C are contiguous along their rows.
template <int rows, int packets, class T>
inline void tiny_rows(std::int64_t k, Strided<const T> a, const T* b, std::int64_t b_row, T* c,
                      std::int64_t c_row) {
  using P = simd::Packet<T>;
  P sums[rows][packets];
  NAX_UNROLL
  for (int r = 0; r < rows; ++r) {
    NAX_UNROLL
    for (int p = 0; p < packets; ++p) sums[r][p] = P(T(0));
  }
  for (std::int64_t l = 0; l < k; ++l) {
    P row[packets];
    NAX_UNROLL
    for (int p = 0; p < packets; ++p) row[p] = P::load(b + l * b_row + p * P::size);
    NAX_UNROLL
    for (int r = 0; r < rows; ++r) {
      const P left(a.data[r * a.row + l * a.column]);
      NAX_UNROLL
      for (int p = 0; p < packets; ++p) sums[r][p] = fma(left, row[p], sums[r][p]);
    }
  }
  NAX_UNROLL
  for (int r = 0; r < rows; ++r) {
    NAX_UNROLL
    for (int p = 0; p < packets; ++p) sums[r][p].store(c + r * c_row + p * P::size);
  }
}

template <int packets, class T>
inline void tiny_product(std::int64_t m, std::int64_t k, Strided<const T> a, const T* b, std::int64_t b_row,
                         T* c, std::int64_t c_row) {
  std::int64_t i = 0;
  for (; i + 4 <= m; i += 4) tiny_rows<4, packets>(k, a.at(i, 0), b, b_row, c + i * c_row, c_row);
  if (i + 2 <= m) {
    tiny_rows<2, packets>(k, a.at(i, 0), b, b_row, c + i * c_row, c_row);
    i += 2;
  }
  if (i < m) tiny_rows<1, packets>(k, a.at(i, 0), b, b_row, c + i * c_row, c_row);
}

// Matrices that lie one after another, so far apart.
template <class T>
struct MatrixBatch {
  Strided<T> first;
  std::int64_t step;
  Strided<T> at(std::int64_t i) const { return {first.data + i * step, first.row, first.column}; }
  MatrixBatch transposed() const { return {first.transposed(), step}; }
};

// Products [begin, end) of `batch`.
template <int packets, class T>
void tiny_products(std::int64_t batch, std::int64_t begin, std::int64_t end, std::int64_t m, std::int64_t n,
                   std::int64_t k, MatrixBatch<const T> a, MatrixBatch<const T> b, MatrixBatch<T> c,
                   bool accumulate) {
  constexpr std::int64_t width = packets * simd::Packet<T>::size;
  const std::int64_t beyond = width - n;
  // How many products from the first on may read and write beyond their rows.
  std::int64_t read = 0, written = 0;
  if (b.first.column == 1 && b.first.row >= 0 && b.step >= 0)
    read = beyond == 0 ? batch : b.step > 0 ? batch - (beyond + b.step - 1) / b.step : 0;
  if (!accumulate && c.first.column == 1) {
    if (beyond == 0)
      written = end;
    else if (c.first.row == n && c.step == m * n)
      written = end - (beyond + c.step - 1) / c.step;
  }
  T right[most_tiny_depth * width], result[most_tiny * width];
  bool copied = false;
  for (std::int64_t i = begin; i < end; ++i) {
    const Strided<const T> from = b.at(i);
    const Strided<T> to = c.at(i);
    const bool direct = i < read;
    if (!direct && !(copied && b.step == 0)) {
      std::fill_n(right, k * width, T(0));
      for (std::int64_t l = 0; l < k; ++l)
        for (std::int64_t j = 0; j < n; ++j) right[l * width + j] = *from.at(l, j).data;
      copied = true;
    }
    const T* const rows = direct ? from.data : right;
    const std::int64_t row = direct ? from.row : width;
    if (i < written) {
      tiny_product<packets>(m, k, a.at(i), rows, row, to.data, to.row);
      continue;
    }
    tiny_product<packets>(m, k, a.at(i), rows, row, static_cast<T*>(result), width);
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t j = 0; j < n; ++j) {
        T& element = *to.at(r, j).data;
        element = accumulate ? element + result[r * width + j] : result[r * width + j];
      }
  }
}

inline bool is_tiny_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m <= most_tiny && n <= most_tiny && k <= most_tiny_depth && m > 0 && n > 0 && k > 0;
}

// Products [begin, end) of a batch for which that holds.
template <class T>
void gemm_tiny(std::int64_t batch, std::int64_t begin, std::int64_t end, std::int64_t m, std::int64_t n,
               std::int64_t k, MatrixBatch<const T> a, MatrixBatch<const T> b, MatrixBatch<T> c,
               bool accumulate) {
  if (n == 1) b.first.column = c.first.column = 1;
  constexpr int width = simd::Packet<T>::size;
  if (n <= width) return tiny_products<1>(batch, begin, end, m, n, k, a, b, c, accumulate);
  if constexpr (2 * width <= most_tiny)
    if (n <= 2 * width) return tiny_products<2>(batch, begin, end, m, n, k, a, b, c, accumulate);
  if constexpr (4 * width <= most_tiny)
    return tiny_products<4>(batch, begin, end, m, n, k, a, b, c, accumulate);
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
