#pragma once

// The matrix product C = A B (or C += A B) for every type and any strides, also zero and negative ones. C
// must not overlap A or B. float and double go to the packed kernels (gemm_blocked.hpp), bfloat16 to those of
// pairs where there are any (gemm_pairs.hpp), 16-bit floats else to float, complex numbers to one real
// product (gemm_complex.hpp), others to simple loops; all share the work out over the pool's threads when
// there is enough of it.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/gemm/gemm_complex.hpp"
#include "nax/backend/cpu/gemm/gemm_pairs.hpp"
#include "nax/backend/cpu/gemm/gemm_shared.hpp"
#include "nax/backend/cpu/gemm/gemm_simple.hpp"
#include "nax/backend/cpu/gemm/gemm_tiny.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/gemm/gemv.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {

template <class T>
struct is_complex : std::false_type {};
template <class R>
struct is_complex<std::complex<R>> : std::true_type {};

// 16 bits that convert to float and back: they are multiplied and added up as floats.
template <class T>
inline constexpr bool is_short_float =
    !std::is_arithmetic_v<T> && !is_complex<T>::value && sizeof(T) == 2 && std::is_constructible_v<float, T>;

inline namespace NAX_SIMD_ABI {

// The inner dimension up to which the slices of a product are added up in the product's own type.
template <class T>
inline constexpr std::int64_t most_inner = 32 * most_depth_of_rows<T>;

// A product with a longer one: pieces of it, joined in wide accumulators, some rows of C at a time where
// these would take much memory.
template <class T>
[[gnu::noinline]] void gemm_long(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a,
                                 Strided<const T> b, Strided<T> c, bool accumulate) {
  constexpr std::int64_t most_sums = std::int64_t{1} << 24;
  const std::int64_t rows = std::clamp<std::int64_t>(most_sums / n, std::min<std::int64_t>(m, 64), m);
  const Scratch<T> nearby(rows * n);
  const Scratch<wide_t<T>> sums(rows * n);
  for (std::int64_t i = 0; i < m; i += rows) {
    const std::int64_t some = std::min(rows, m - i);
    for (std::int64_t k0 = 0; k0 < k; k0 += most_inner<T>) {
      gemm_shared<T>(some, n, std::min(most_inner<T>, k - k0), a.at(i, k0), b.at(k0, 0),
                     {nearby.data(), n, 1}, false, {});
      parallel_for(some * n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j)
          sums[j] = (k0 > 0 ? sums[j] : wide_t<T>(0)) + static_cast<wide_t<T>>(nearby[j]);
      });
    }
    for (std::int64_t r = 0; r < some; ++r)
      for (std::int64_t j = 0; j < n; ++j) {
        T& to = *c.at(i + r, j).data;
        const wide_t<T> sum = sums[r * n + j];
        to = static_cast<T>(accumulate ? static_cast<wide_t<T>>(to) + sum : sum);
      }
  }
}

// Whether to compute the transposed product of few rows and a large b, whose columns are contiguous: its
// tiles read b where it is, and rows that fill no more than a packet take no longer than one that is full.
// Measured: .52 to .75 of the time, or .95 for two rows; by AVX2, which spreads each element of b over a
// register, no less than otherwise.
template <class T>
bool pays_to_turn(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> b) {
  return multiplies_by_memory && m <= simd::Packet<T>::size && b.row == 1 && b.column > 1 &&
         n * depth_of_slices<T>(k) * std::int64_t{sizeof(T)} >= group_bytes;
}

template <class T>
void gemm_dense(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                Strided<T> c, bool accumulate, const UpcomingOperands<T>& upcoming) {
  if (n == 1) return gemv(m, k, a, b.data, b.row, c.data, c.row, accumulate);
  if (m == 1) return gemv(n, k, b.transposed(), a.data, a.column, c.data, c.column, accumulate);
  // The kernel writes along rows of C: transpose the whole product where its columns are the contiguous ones.
  if (c.column != 1 && c.row == 1)
    return gemm_dense(n, m, k, b.transposed(), a.transposed(), c.transposed(), accumulate, upcoming);
  if constexpr (!std::is_same_v<T, wide_t<T>>)
    if (k > most_inner<T>) return gemm_long(m, n, k, a, b, c, accumulate);
  if (pays_to_turn(m, n, k, b))
    return gemm_shared<T>(n, m, k, b.transposed(), a.transposed(), c.transposed(), accumulate, {});
  gemm_shared(m, n, k, a, b, c, accumulate, upcoming);
}

// The operands of a product that follows one of the same kind; null where they are the same, or none follows.
template <class T>
struct NextOperands {
  const T *a = nullptr, *b = nullptr, *c = nullptr;
};

// The operands that lie in one piece.
template <class T>
UpcomingOperands<T> upcoming_operands(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a,
                                      Strided<const T> b, Strided<const T> c, const NextOperands<T>& next) {
  const auto lines = [](std::int64_t rows, std::int64_t columns, Strided<const T> x,
                        const T* at) -> Upcoming<T> {
    const bool dense = (x.column == 1 && x.row == columns) || (x.row == 1 && x.column == rows);
    return {at, at && dense ? rows * columns / Upcoming<T>::line : 0};
  };
  return {lines(k, n, b, next.b), lines(m, k, a, next.a), lines(m, n, c, next.c)};
}

// y = A x, or y += A x, of 16-bit floats, which are widened as they are read.
template <class T>
void gemv_short(std::int64_t m, std::int64_t k, Strided<const T> a, const T* x, std::int64_t x_stride, T* y,
                std::int64_t y_stride, bool add) {
  const Scratch<float> wide_x(k), sums(m);
  for (std::int64_t j = 0; j < k; ++j) wide_x[j] = static_cast<float>(x[j * x_stride]);
  gemv<float>(m, k, a, wide_x.data(), 1, sums.data(), 1, false);
  for (std::int64_t i = 0; i < m; ++i) {
    T& to = y[i * y_stride];
    to = static_cast<T>(add ? static_cast<float>(to) + sums[i] : sums[i]);
  }
}

template <class T>
void gemm_short(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                Strided<T> c, bool accumulate) {
  if (n == 1) return gemv_short(m, k, a, b.data, b.row, c.data, c.row, accumulate);
  if (m == 1) return gemv_short(n, k, b.transposed(), a.data, a.column, c.data, c.column, accumulate);
#if NAX_MULTIPLIES_PAIRS
  if constexpr (std::is_same_v<T, bfloat16>)
    if (pays_to_multiply_pairs(m, n, k)) return gemm_pairs(pairs_unit(), m, n, k, a, b, c, accumulate);
#endif
  const Scratch<float> wide_a(m * k), wide_b(k * n), wide_c(m * n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l) wide_a[i * k + l] = static_cast<float>(*a.at(i, l).data);
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) wide_b[l * n + j] = static_cast<float>(*b.at(l, j).data);
  gemm_dense<float>(m, n, k, {wide_a.data(), k, 1}, {wide_b.data(), n, 1}, {wide_c.data(), n, 1}, false, {});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T& to = *c.at(i, j).data;
      const float sum = wide_c[i * n + j];
      to = static_cast<T>(accumulate ? static_cast<float>(to) + sum : sum);
    }
}

// Describes a product for a profile.
[[gnu::cold]] NAX_ENGINE void describe_product(nax::detail::profile::Event& event, std::int64_t m,
                                               std::int64_t n, std::int64_t k, std::size_t item);

// C is m x n, A is m x k, B is k x n; `rs` and `cs` are the strides from row to row and from column to
// column, in elements. An inner dimension of zero gives zeros, or leaves C as it is when accumulating.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t rsa, std::int64_t csa,
          const T* b, std::int64_t rsb, std::int64_t csb, T* c, std::int64_t rsc, std::int64_t csc,
          bool accumulate, const NextOperands<T>& next = {}) {
  if (m <= 0 || n <= 0) return;
  const nax::detail::profile::Span span(nax::detail::profile::Kind::operation, "matmul");
  if (span.event()) [[unlikely]]
    describe_product(*span.event(), m, n, k, sizeof(T));
  if (k <= 0) {
    if (accumulate) return;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * rsc + j * csc] = T(0);
    return;
  }
  const Strided<const T> left{a, rsa, csa}, right{b, rsb, csb};
  const Strided<T> result{c, rsc, csc};
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    gemm_dense(m, n, k, left, right, result, accumulate,
               upcoming_operands(m, n, k, left, right, Strided<const T>{c, rsc, csc}, next));
  else if constexpr (is_short_float<T>)
    gemm_short(m, n, k, left, right, result, accumulate);
  else if constexpr (is_complex<T>::value)
    pays_to_split_complex(m, n, k) ? gemm_complex(m, n, k, left, right, result, accumulate)
                                   : gemm_simple(m, n, k, left, right, result, accumulate);
  else
    gemm_simple(m, n, k, left, right, result, accumulate);
}

// `batch` products; bsa, bsb and bsc are the strides from one to the next (0 repeats an operand, not C).
template <class T>
void gemm_batched(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                  std::int64_t bsa, std::int64_t rsa, std::int64_t csa, const T* b, std::int64_t bsb,
                  std::int64_t rsb, std::int64_t csb, T* c, std::int64_t bsc, std::int64_t rsc,
                  std::int64_t csc, bool accumulate) {
  if (batch <= 0) return;
  // One operand for the whole batch: its products are one, where the others lie one after another.
  if (batch == 1 || (bsb == 0 && bsa == m * rsa && bsc == m * rsc))
    return gemm(batch * m, n, k, a, rsa, csa, b, rsb, csb, c, rsc, csc, accumulate);
  if (bsa == 0 && bsb == n * csb && bsc == n * csc)
    return gemm(m, batch * n, k, a, rsa, csa, b, rsb, csb, c, rsc, csc, accumulate);
  const double products =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<std::int64_t>(k, 1));
  const std::int64_t grain = static_cast<std::int64_t>((1 << 16) / std::max(products, 1.0)) + 1;
  if constexpr (simd::has_packet<T>) {
    if (is_tiny_product(m, n, k)) {
      const nax::detail::profile::Span span(nax::detail::profile::Kind::operation, "matmul");
      if (span.event()) [[unlikely]]
        describe_product(*span.event(), batch * m, n, k, sizeof(T));
      MatrixBatch<const T> left{{a, rsa, csa}, bsa}, right{{b, rsb, csb}, bsb};
      MatrixBatch<T> result{{c, rsc, csc}, bsc};
      const bool by_columns = csc != 1 && rsc == 1 && n > 1;  // rows of C are to be contiguous
      return parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {
        if (by_columns)
          gemm_tiny<T>(batch, begin, end, n, m, k, right.transposed(), left.transposed(), result.transposed(),
                       accumulate);
        else
          gemm_tiny<T>(batch, begin, end, m, n, k, left, right, result, accumulate);
      });
    }
  }
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      NextOperands<T> next;
      if (i + 1 < end)
        next = {bsa == 0 ? nullptr : a + (i + 1) * bsa, bsb == 0 ? nullptr : b + (i + 1) * bsb,
                c + (i + 1) * bsc};
      gemm(m, n, k, a + i * bsa, rsa, csa, b + i * bsb, rsb, csb, c + i * bsc, rsc, csc, accumulate, next);
    }
  };
  if (batch < available_threads()) return some(0, batch);  // threads share each product instead
  parallel_for(batch, grain, some);
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE void describe_product(nax::detail::profile::Event& event, std::int64_t m, std::int64_t n,
                                 std::int64_t k, std::size_t item) {
  const double mn = static_cast<double>(m) * static_cast<double>(n), dk = static_cast<double>(k);
  const double elements = mn + static_cast<double>(m + n) * dk;
  nax::detail::profile::describe(
      event, Shape{m, n}, static_cast<std::uint64_t>(elements * static_cast<double>(item)), 2 * mn * dk);
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
#endif
