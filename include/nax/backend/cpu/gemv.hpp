#pragma once

// Matrix times vector, y = A x or y += A x, of float or double: bound by reading A once, whichever way it
// lies.

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm_types.hpp"
#include "nax/core/thread_pool.hpp"

namespace nax::inline NAX_ABI::cpu {
inline namespace NAX_SIMD_ABI {

// The dot products of `rows` neighbouring rows with x; several packets in flight for each.
template <int rows, class T>
void dot_rows(std::int64_t k, const T* a, std::int64_t stride, const T* x, T* y, std::int64_t y_stride,
              bool add) {
  using P = simd::Packet<T>;
  constexpr int flights = rows == 1 ? 8 : 2;
  P sums[rows][flights];
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int f = 0; f < flights; ++f) sums[i][f] = P(T(0));
  }
  std::int64_t at = 0;
  for (; at + flights * P::size <= k; at += flights * P::size) {
    NAX_UNROLL
    for (int f = 0; f < flights; ++f) {
      const P right = P::load(x + at + f * P::size);
      NAX_UNROLL
      for (int i = 0; i < rows; ++i)
        sums[i][f] = fma(P::load(a + i * stride + at + f * P::size), right, sums[i][f]);
    }
  }
  for (; at < k; at += P::size) {
    const std::int64_t count = std::min<std::int64_t>(P::size, k - at);
    const P right = P::load(x + at, count);
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) sums[i][0] = fma(P::load(a + i * stride + at, count), right, sums[i][0]);
  }
  for (int i = 0; i < rows; ++i) {
    for (int f = flights / 2; f > 0; f /= 2)
      for (int g = 0; g < f; ++g) sums[i][g] += sums[i][g + f];
    const T sum = reduce_add(sums[i][0]);
    T& to = y[i * y_stride];
    to = add ? to + sum : sum;
  }
}

// A strip of up to `packets` packets of rows, whose columns are contiguous: y stays in registers.
template <int packets, class T>
void combine_columns(std::int64_t rows, std::int64_t k, const T* a, std::int64_t stride, const T* x, T* y,
                     std::int64_t y_stride, bool add) {
  using P = simd::Packet<T>;
  P sums[packets];
  NAX_UNROLL
  for (int i = 0; i < packets; ++i) sums[i] = P(T(0));
  if (rows == packets * P::size) {
    for (std::int64_t j = 0; j < k; ++j) {
      const P right(x[j]);
      NAX_UNROLL
      for (int i = 0; i < packets; ++i) sums[i] = fma(P::load(a + j * stride + i * P::size), right, sums[i]);
    }
  } else {  // the last packet is not full
    const std::int64_t count = rows - (packets - 1) * P::size;
    for (std::int64_t j = 0; j < k; ++j) {
      const P right(x[j]);
      NAX_UNROLL
      for (int i = 0; i + 1 < packets; ++i)
        sums[i] = fma(P::load(a + j * stride + i * P::size), right, sums[i]);
      sums[packets - 1] =
          fma(P::load(a + j * stride + (packets - 1) * P::size, count), right, sums[packets - 1]);
    }
  }
  alignas(64) T results[packets * P::size];
  NAX_UNROLL
  for (int i = 0; i < packets; ++i) sums[i].store(results + i * P::size);
  for (std::int64_t i = 0; i < rows; ++i) {
    T& to = y[i * y_stride];
    to = add ? to + results[i] : results[i];
  }
}

// Rows [begin, end) of y.
template <class T>
void gemv_range(std::int64_t begin, std::int64_t end, std::int64_t k, Strided<const T> a, const T* x, T* y,
                std::int64_t y_stride, bool add) {
  constexpr std::int64_t size = simd::Packet<T>::size;
  if (a.column == 1) {
    std::int64_t i = begin;
    for (; i + 4 <= end; i += 4) dot_rows<4>(k, a.at(i, 0).data, a.row, x, y + i * y_stride, y_stride, add);
    for (; i < end; ++i) dot_rows<1>(k, a.at(i, 0).data, a.row, x, y + i * y_stride, y_stride, add);
  } else if (a.row == 1) {
    constexpr std::int64_t strip = 8 * size;
    for (std::int64_t i = begin; i < end; i += strip) {
      std::int64_t rows = std::min(strip, end - i), done = 0;
      if (rows == strip) {
        combine_columns<8>(rows, k, a.at(i, 0).data, a.column, x, y + i * y_stride, y_stride, add);
        continue;
      }
      for (; done < rows; done += size)
        combine_columns<1>(std::min(size, rows - done), k, a.at(i + done, 0).data, a.column, x,
                           y + (i + done) * y_stride, y_stride, add);
    }
  } else {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = a.at(i, 0).data;
      T sums[4] = {};
      std::int64_t j = 0;
      for (; j + 4 <= k; j += 4)
        for (int f = 0; f < 4; ++f) sums[f] += row[(j + f) * a.column] * x[j + f];
      for (; j < k; ++j) sums[0] += row[j * a.column] * x[j];
      const T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      T& to = y[i * y_stride];
      to = add ? to + sum : sum;
    }
  }
}

template <class T>
void gemv(std::int64_t m, std::int64_t k, Strided<const T> a, const T* x, std::int64_t x_stride, T* y,
          std::int64_t y_stride, bool add) {
  const Scratch<T> copy(x_stride == 1 ? 0 : k);
  if (x_stride != 1) {
    for (std::int64_t j = 0; j < k; ++j) copy[j] = x[j * x_stride];
    x = copy.data();
  }
  constexpr std::int64_t enough = 1 << 16;  // elements of A that a thread should have
  parallel_for(
      m, (enough / std::max<std::int64_t>(k, 1) + 128) / 128 * 128,
      [&](std::int64_t begin, std::int64_t end) { gemv_range(begin, end, k, a, x, y, y_stride, add); });
}

}  // namespace NAX_SIMD_ABI
}  // namespace nax::inline NAX_ABI::cpu
