#pragma once

// Matrix times vector, y = A x or y += A x, of float or double: bound by reading A once, whichever way it
// lies. Elements E of A may be 16-bit floats beside floats T. Long sums are cut into blocks (see wide.hpp).

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/convert_packets.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// The terms of a block that follow one another in one accumulator.
inline constexpr std::int64_t terms_of_block = 256;

template <class T>
void give_result(T& to, T sum, bool add) {
  to = add ? to + sum : sum;
}

// The dot products of `rows` neighbouring rows with x, no longer than a block; several packets in flight for
// each.
template <int rows>
inline constexpr int flights_of_rows = rows == 1 ? 8 : 2;
template <int rows, class T, class E>
[[gnu::always_inline]] inline void dot_block(std::int64_t k, const E* a, std::int64_t stride, const T* x,
                                             T (&dots)[rows]) {
  using P = simd::Packet<T>;
  constexpr int flights = flights_of_rows<rows>;
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
        sums[i][f] = fma(load_wide<T>(a + i * stride + at + f * P::size), right, sums[i][f]);
    }
  }
  for (; at < k; at += P::size) {
    const std::int64_t count = std::min<std::int64_t>(P::size, k - at);
    const P right = P::load(x + at, count);
    NAX_UNROLL
    for (int i = 0; i < rows; ++i)
      sums[i][0] = fma(load_wide<T>(a + i * stride + at, count), right, sums[i][0]);
  }
  for (int i = 0; i < rows; ++i) {
    for (int f = flights / 2; f > 0; f /= 2)
      for (int g = 0; g < f; ++g) sums[i][g] += sums[i][g + f];
    dots[i] = reduce_add(sums[i][0]);
  }
}
template <int rows, class T, class E>
void dot_rows(std::int64_t k, const E* a, std::int64_t stride, const T* x, T* y, std::int64_t y_stride,
              bool add) {
  constexpr std::int64_t block = terms_of_block * flights_of_rows<rows> * simd::Packet<T>::size;
  wide_t<T> totals[rows] = {};
  std::int64_t at = 0;
  do {
    T dots[rows];
    dot_block<rows>(std::min(block, k - at), a + at, stride, x + at, dots);
    for (int i = 0; i < rows; ++i) totals[i] += static_cast<wide_t<T>>(dots[i]);
  } while ((at += block) < k);
  for (int i = 0; i < rows; ++i) give_result(y[i * y_stride], static_cast<T>(totals[i]), add);
}

// A strip of up to `packets` packets of rows, whose columns are contiguous: y stays in registers.
template <int packets, class T, class E>
[[gnu::always_inline]] inline void combine_block(std::int64_t rows, std::int64_t k, const E* a,
                                                 std::int64_t stride, const T* x, T* results) {
  using P = simd::Packet<T>;
  P sums[packets];
  NAX_UNROLL
  for (int i = 0; i < packets; ++i) sums[i] = P(T(0));
  if (rows == packets * P::size) {
    for (std::int64_t j = 0; j < k; ++j) {
      const P right(x[j]);
      NAX_UNROLL
      for (int i = 0; i < packets; ++i)
        sums[i] = fma(load_wide<T>(a + j * stride + i * P::size), right, sums[i]);
    }
  } else {  // the last packet is not full
    const std::int64_t count = rows - (packets - 1) * P::size;
    for (std::int64_t j = 0; j < k; ++j) {
      const P right(x[j]);
      NAX_UNROLL
      for (int i = 0; i + 1 < packets; ++i)
        sums[i] = fma(load_wide<T>(a + j * stride + i * P::size), right, sums[i]);
      sums[packets - 1] =
          fma(load_wide<T>(a + j * stride + (packets - 1) * P::size, count), right, sums[packets - 1]);
    }
  }
  NAX_UNROLL
  for (int i = 0; i < packets; ++i) sums[i].store(results + i * P::size);
}
template <int packets, class T, class E>
void combine_columns(std::int64_t rows, std::int64_t k, const E* a, std::int64_t stride, const T* x, T* y,
                     std::int64_t y_stride, bool add) {
  constexpr std::int64_t width = packets * simd::Packet<T>::size, block = 2 * terms_of_block;
  alignas(64) T results[width];
  if (k <= block) {
    combine_block<packets>(rows, k, a, stride, x, results);
  } else {
    alignas(64) wide_t<T> totals[width] = {};
    for (std::int64_t j = 0; j < k; j += block) {
      combine_block<packets>(rows, std::min(block, k - j), a + j * stride, stride, x + j, results);
      for (int i = 0; i < width; ++i) totals[i] += static_cast<wide_t<T>>(results[i]);
    }
    for (int i = 0; i < width; ++i) results[i] = static_cast<T>(totals[i]);
  }
  for (std::int64_t i = 0; i < rows; ++i) give_result(y[i * y_stride], results[i], add);
}

// y += A x of `some` columns, each contiguous and read from end to end.
template <int some, class T, class E>
[[gnu::always_inline]] inline void add_columns(std::int64_t rows, const E* a, std::int64_t stride, const T* x,
                                               T* y) {
  using P = simd::Packet<T>;
  P right[some];
  NAX_UNROLL
  for (int j = 0; j < some; ++j) right[j] = P(x[j]);
  std::int64_t i = 0;
  for (; i + P::size <= rows; i += P::size) {
    P sum = P::load(y + i);
    NAX_UNROLL
    for (int j = 0; j < some; ++j) sum = fma(load_wide<T>(a + j * stride + i), right[j], sum);
    sum.store(y + i);
  }
  if (const std::int64_t rest = rows - i; rest > 0) {
    P sum = P::load(y + i, rest);
    NAX_UNROLL
    for (int j = 0; j < some; ++j) sum = fma(load_wide<T>(a + j * stride + i, rest), right[j], sum);
    sum.store(y + i, rest);
  }
}
template <class T, class E>
void add_all_columns(std::int64_t rows, std::int64_t k, const E* a, std::int64_t stride, const T* x, T* y) {
  constexpr int some = 8;
  std::int64_t j = 0;
  for (; j + some <= k; j += some) add_columns<some>(rows, a + j * stride, stride, x + j, y);
  for (; j < k; ++j) add_columns<1>(rows, a + j * stride, stride, x + j, y);
}

// A larger than the caches has its columns read as a few streams, while sums stay in the first-level cache:
// strips of it lie in as many pages as there are columns. Measured: .65 to .85 of the time of strips.
template <class E>
bool reads_streams(std::int64_t rows, std::int64_t k) {
  constexpr std::int64_t least_rows = 256, least_bytes = 1 << 20;
  return rows >= least_rows && rows * k * std::int64_t{sizeof(E)} >= least_bytes;
}
template <class T, class E>
void combine_streams(std::int64_t rows, std::int64_t k, const E* a, std::int64_t stride, const T* x, T* y,
                     std::int64_t y_stride, bool add) {
  constexpr std::int64_t most = 16384 / sizeof(T), block = 2 * terms_of_block;
  const Scratch<T> sums(std::min(rows, most));
  const Scratch<wide_t<T>> totals(std::min(rows, most));
  for (std::int64_t first = 0; first < rows; first += most) {
    const std::int64_t here = std::min(most, rows - first);
    std::fill_n(totals.data(), here, wide_t<T>(0));
    for (std::int64_t j = 0; j < k; j += block) {
      std::fill_n(sums.data(), here, T(0));
      add_all_columns(here, std::min(block, k - j), a + j * stride + first, stride, x + j, sums.data());
      for (std::int64_t i = 0; i < here; ++i) totals[i] += static_cast<wide_t<T>>(sums[i]);
    }
    for (std::int64_t i = 0; i < here; ++i)
      give_result(y[(first + i) * y_stride], static_cast<T>(totals[i]), add);
  }
}

// The dot product of a row whose elements lie apart.
template <class T, class E>
T dot_apart(std::int64_t k, const E* row, std::int64_t stride, const T* x) {
  wide_t<T> total(0);
  for (std::int64_t j = 0; j < k;) {
    const std::int64_t end = std::min(k, j + 4 * terms_of_block);
    T sums[4] = {};
    for (; j + 4 <= end; j += 4)
      for (int f = 0; f < 4; ++f) sums[f] += static_cast<T>(row[(j + f) * stride]) * x[j + f];
    for (; j < end; ++j) sums[0] += static_cast<T>(row[j * stride]) * x[j];
    total += static_cast<wide_t<T>>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return static_cast<T>(total);
}

// Rows [begin, end) of y.
template <class T, class E>
void gemv_range(std::int64_t begin, std::int64_t end, std::int64_t k, Strided<const E> a, const T* x, T* y,
                std::int64_t y_stride, bool add) {
  constexpr std::int64_t size = simd::Packet<T>::size;
  if (a.column == 1) {
    std::int64_t i = begin;
    for (; i + 4 <= end; i += 4) dot_rows<4>(k, a.at(i, 0).data, a.row, x, y + i * y_stride, y_stride, add);
    for (; i < end; ++i) dot_rows<1>(k, a.at(i, 0).data, a.row, x, y + i * y_stride, y_stride, add);
  } else if (a.row == 1 && reads_streams<E>(end - begin, k)) {
    combine_streams(end - begin, k, a.at(begin, 0).data, a.column, x, y + begin * y_stride, y_stride, add);
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
    for (std::int64_t i = begin; i < end; ++i)
      give_result(y[i * y_stride], dot_apart(k, a.at(i, 0).data, a.column, x), add);
  }
}

template <class T, class E>
void gemv(std::int64_t m, std::int64_t k, Strided<const E> a, const T* x, std::int64_t x_stride, T* y,
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
}  // namespace cpu
NAX_END
