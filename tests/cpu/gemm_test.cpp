#include "nax/backend/cpu/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <vector>

#include "support/with_threads.hpp"

namespace {

using nax::cpu::gemm;
using nax::cpu::gemm_batched;

// A matrix inside a larger buffer, with given strides.
template <class T>
struct Matrix {
  std::vector<T> buffer;
  T* data;
  std::int64_t row, column;
  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
};

enum Layout { rows, columns, backward, spread, repeated_rows, repeated };

template <class T>
Matrix<T> matrix(std::int64_t m, std::int64_t n, Layout layout, unsigned seed) {
  Matrix<T> result;
  switch (layout) {
    case rows:
      result.row = n, result.column = 1;
      break;
    case columns:
      result.row = 1, result.column = m;
      break;
    case backward:
      result.row = -n, result.column = -1;
      break;
    case spread:
      result.row = 2 * n + 3, result.column = 2;
      break;
    case repeated_rows:
      result.row = 0, result.column = 1;
      break;
    case repeated:
      result.row = 0, result.column = 0;
      break;
  }
  result.buffer.resize(static_cast<std::size_t>((m + 1) * (2 * n + 3) + 64));
  result.data = result.buffer.data() + (layout == backward ? std::max<std::int64_t>(m * n - 1, 0) : 0);
  for (auto& value : result.buffer) {
    seed = seed * 1664525u + 1013904223u;
    const int number = static_cast<int>(seed >> 28) - 7;  // small whole numbers: sums are exact
    if constexpr (nax::cpu::is_complex<T>::value)
      value = {static_cast<typename T::value_type>(number),
               static_cast<typename T::value_type>(seed >> 24 & 7)};
    else
      value = static_cast<T>(number);
  }
  return result;
}

template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, Layout la, Layout lb, Layout lc, bool accumulate) {
  const auto a = matrix<T>(m, k, la, 1), b = matrix<T>(k, n, lb, 2);
  auto c = matrix<T>(m, n, lc, 3);
  const auto before = c.buffer;
  std::vector<T> want;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = accumulate ? c(i, j) : T(0);
      for (std::int64_t l = 0; l < k; ++l) sum = static_cast<T>(sum + a(i, l) * b(l, j));
      want.push_back(sum);
    }
  gemm<T>(m, n, k, a.data, a.row, a.column, b.data, b.row, b.column, c.data, c.row, c.column, accumulate);
  std::size_t at = 0;
  auto expected = before;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      expected[static_cast<std::size_t>(&c(i, j) - c.buffer.data())] = want[at++];
  ASSERT_EQ(c.buffer, expected) << m << "x" << k << "x" << n << " layouts " << la << lb << lc << accumulate;
}

template <class T>
class Gemm : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Types);

TYPED_TEST(Gemm, EveryLayout) {
  for (Layout la : {rows, columns, backward, spread, repeated_rows, repeated})
    for (Layout lb : {rows, columns, backward, spread, repeated_rows, repeated})
      for (Layout lc : {rows, columns, backward, spread})
        for (bool accumulate : {false, true}) {
          check<TypeParam>(7, 5, 9, la, lb, lc, accumulate);
          check<TypeParam>(33, 37, 19, la, lb, lc, accumulate);
        }
}
TYPED_TEST(Gemm, EverySmallShape) {
  for (std::int64_t m : {0, 1, 2, 3, 5, 8, 13, 14, 15, 29})
    for (std::int64_t n : {0, 1, 2, 4, 8, 15, 16, 17, 31, 32, 33, 70})
      for (std::int64_t k : {0, 1, 2, 7, 16, 33})
        for (Layout l : {rows, columns}) {
          check<TypeParam>(m, n, k, l, rows, rows, m % 2 == 0);
          check<TypeParam>(m, n, k, rows, l, rows, m % 2 == 1);
        }
}
TYPED_TEST(Gemm, LargeEnoughForBlocksAndThreads) {
  for (int count : {1, 2, 3, 4}) {
    const WithThreads threads(count);
    for (Layout la : {rows, columns})
      for (Layout lb : {rows, columns}) {
        check<TypeParam>(67, 300, 1200, la, lb, rows, false);
        check<TypeParam>(501, 131, 64, la, lb, columns, true);
        check<TypeParam>(128, 512, 30, la, lb, rows, true);
      }
    check<TypeParam>(129, 600, 2048, rows, rows, rows, true);   // rows that parts share, packed
    check<TypeParam>(2101, 70, 40, rows, rows, rows, false);    // parts as wide as C
    check<TypeParam>(30, 45, 2100, columns, rows, rows, true);  // slices of k
    check<TypeParam>(9, 20, 40'000, rows, rows, columns, false);
  }
  // Several blocks of rows, which are packed where they are a power of two apart, and several groups of
  // columns.
  check<TypeParam>(1100, 330, 1024, rows, rows, rows, false);
  check<TypeParam>(2304, 170, 600, columns, rows, rows, true);
}
// Columns far apart, which few rows meet: read where they are or packed, also slice by slice.
TYPED_TEST(Gemm, FewRowsAndFarColumns) {
  for (std::int64_t m : {2, 6, 12, 16, 28, 33, 48, 49, 112, 113})
    for (std::int64_t n : {500, 512, 1024, 1030}) {
      check<TypeParam>(m, n, 70, rows, rows, rows, m % 2 == 0);
      if (m < 30) check<TypeParam>(m, n, 1100, rows, rows, rows, m % 2 == 1);
    }
}
// Products that are computed as their transposes.
TYPED_TEST(Gemm, FewRowsAndLongTransposedColumns) {
  for (std::int64_t m : {2, 3, 7, 8, 9, 16, 17})
    for (Layout la : {rows, columns, spread})
      for (Layout lc : {rows, columns, spread}) check<TypeParam>(m, 530, 300, la, columns, lc, m % 2 == 0);
  const WithThreads threads(3);
  check<TypeParam>(8, 1201, 700, rows, columns, rows, false);
  check<TypeParam>(5, 1201, 700, rows, columns, rows, true);
}
TYPED_TEST(Gemm, Vectors) {
  for (Layout l : {rows, columns, backward, spread, repeated_rows})
    for (std::int64_t m : {1, 3, 16, 130, 1000})
      for (std::int64_t k : {1, 15, 64, 1001}) {
        check<TypeParam>(m, 1, k, l, rows, rows, m % 2 == 0);
        check<TypeParam>(1, m, k, rows, l, rows, m % 2 == 1);
        check<TypeParam>(m, 1, k, l, spread, spread, false);
      }
}

// Computes row by row: every element is delivered once and equals gemm's.
template <class T>
void check_rows(std::int64_t m, std::int64_t n, std::int64_t k, Layout la, Layout lb) {
  const auto a = matrix<T>(m, k, la, 1), b = matrix<T>(k, n, lb, 2);
  std::vector<T> want(static_cast<std::size_t>(m * n)), got(want.size(), T(-1));
  gemm<T>(m, n, k, a.data, a.row, a.column, b.data, b.row, b.column, want.data(), n, 1, false);
  std::atomic<std::int64_t> taken = 0;
  nax::cpu::gemm_rows<T>(m, n, k, {a.data, a.row, a.column}, {b.data, b.row, b.column},
                         [&](std::int64_t i, std::int64_t j, std::int64_t count, const T* elements) {
                           std::copy_n(elements, count, got.data() + i * n + j);
                           taken += count;
                         });
  ASSERT_EQ(got, want) << m << "x" << k << "x" << n << " layouts " << la << lb;
  ASSERT_EQ(taken, m * n);
}
TYPED_TEST(Gemm, RowByRow) {
  for (int count : {1, 2, 3}) {
    const WithThreads threads(count);
    for (Layout la : {rows, columns, backward, spread})
      for (Layout lb : {rows, columns, backward, spread}) {
        check_rows<TypeParam>(1, 1, 1, la, lb);
        check_rows<TypeParam>(15, 33, 7, la, lb);
        check_rows<TypeParam>(129, 70, nax::cpu::most_depth_of_rows<TypeParam>, la, lb);
        check_rows<TypeParam>(64, 1500, 130, la, lb);  // several groups of columns
      }
  }
  const WithThreads threads(3);
  check_rows<TypeParam>(2500, 40, 250, columns, rows);  // several blocks of packed rows
  check_rows<TypeParam>(2560, 40, 250, columns, columns);
}

TEST(GemmOfOtherTypes, WholeAndComplexNumbers) {
  for (Layout la : {rows, columns, spread})
    for (Layout lb : {rows, columns, backward})
      for (bool accumulate : {false, true}) {
        check<std::int32_t>(17, 300, 21, la, lb, rows, accumulate);
        check<std::int64_t>(5, 6, 7, la, lb, spread, accumulate);
        check<std::complex<float>>(9, 11, 13, la, lb, columns, accumulate);
        check<std::complex<double>>(9, 11, 13, la, lb, rows, accumulate);
      }
}
TEST(GemmOfOtherTypes, ComplexBySmallShapesAndPieces) {
  for (std::int64_t m : {0, 1, 3, 4, 5, 16, 33})
    for (std::int64_t n : {0, 1, 2, 7, 16, 40})
      for (std::int64_t k : {0, 1, 3, 4, 8, 33}) {
        check<std::complex<float>>(m, n, k, rows, columns, rows, m % 2 == 0);
        check<std::complex<double>>(m, n, k, columns, rows, columns, m % 2 == 1);
      }
  check<std::complex<float>>(150, 20, 10'000, rows, rows, rows, true);  // A in three pieces
}
TEST(GemmOfOtherTypes, SmallWholeNumbersWrap) {
  const std::int8_t a[2] = {100, 100}, b[2] = {3, 1};
  std::int8_t c[1];
  gemm<std::int8_t>(1, 1, 2, a, 2, 1, b, 1, 1, c, 1, 1, false);
  EXPECT_EQ(c[0], static_cast<std::int8_t>(400));
}
TEST(GemmOfOtherTypes, BoolIsOrOfAnds) {
  const bool a[6] = {true, false, true, false, false, true}, b[6] = {true, false, false, true, false, false};
  bool c[4] = {};
  gemm<bool>(2, 2, 3, a, 3, 1, b, 2, 1, c, 2, 1, false);
  EXPECT_TRUE(c[0]);
  EXPECT_FALSE(c[1]);
  EXPECT_FALSE(c[2]);
  EXPECT_FALSE(c[3]);
}
struct Short {  // stands for the 16-bit floats
  std::int16_t value = 0;
  Short() = default;
  explicit Short(float x) : value(static_cast<std::int16_t>(x)) {}
  explicit operator float() const { return value; }
};
TEST(GemmOfOtherTypes, ShortFloatsAddUpAsFloats) {
  const Short a[4] = {Short(1), Short(2), Short(3), Short(4)};
  Short c[4] = {Short(1), Short(1), Short(1), Short(1)};
  gemm<Short>(2, 2, 2, a, 2, 1, a, 2, 1, c, 2, 1, true);
  EXPECT_EQ(c[0].value, 8);
  EXPECT_EQ(c[3].value, 23);
}

// Products with vectors round once, and are those of floats for each layout of the matrix.
template <class T>
void check_short_vectors() {
  for (const Layout layout : {rows, columns, backward, spread, repeated_rows})
    for (const std::int64_t m : {1, 3, 40, 1000})
      for (const std::int64_t k : {1, 15, 64, 700})
        for (const bool accumulate : {false, true}) {
          const auto a = matrix<T>(m, k, layout, 1), x = matrix<T>(k, 1, spread, 2),
                     before = matrix<T>(m, 1, rows, 3);
          std::vector<T> y = before.buffer, turned = before.buffer;
          gemm<T>(m, 1, k, a.data, a.row, a.column, x.data, x.row, x.column, y.data(), 1, 1, accumulate);
          gemm<T>(1, m, k, x.data, x.column, x.row, a.data, a.column, a.row, turned.data(), 1, 1, accumulate);
          for (std::int64_t i = 0; i < m; ++i) {
            float sum = accumulate ? static_cast<float>(before(i, 0)) : 0;
            for (std::int64_t j = 0; j < k; ++j)
              sum += static_cast<float>(a(i, j)) * static_cast<float>(x(j, 0));
            const auto at = static_cast<std::size_t>(i);
            ASSERT_EQ(static_cast<float>(y[at]), static_cast<float>(T(sum)))
                << m << ' ' << k << ' ' << layout;
            ASSERT_EQ(static_cast<float>(turned[at]), static_cast<float>(T(sum)))
                << m << ' ' << k << ' ' << layout;
          }
        }
}
TEST(GemmOfOtherTypes, ShortFloatsTimesVectors) {
  check_short_vectors<nax::bfloat16>();
  check_short_vectors<nax::half>();
}

void check_batch(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = matrix<float>(batch * m, k, rows, 4), b = matrix<float>(batch * k, n, rows, 5);
  for (std::int64_t bsa : {m * k, std::int64_t{0}})
    for (std::int64_t bsb : {k * n, std::int64_t{0}})
      for (int side_by_side : {0, 1}) {
        const std::int64_t rsc = side_by_side ? batch * n : n, bsc = side_by_side ? n : m * n;
        std::vector<float> c(static_cast<std::size_t>(batch * m * n), -1);
        gemm_batched<float>(batch, m, n, k, a.data, bsa, k, 1, b.data, bsb, n, 1, c.data(), bsc, rsc, 1,
                            false);
        for (std::int64_t p = 0; p < batch; ++p)
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              float sum = 0;
              for (std::int64_t l = 0; l < k; ++l)
                sum += a.data[p * bsa + i * k + l] * b.data[p * bsb + l * n + j];
              ASSERT_EQ(c[static_cast<std::size_t>(p * bsc + i * rsc + j)], sum);
            }
      }
}
TEST(GemmBatched, StridesAndSharedOperands) { check_batch(5, 3, 4, 6); }
TEST(GemmBatched, OperandsFetchedAhead) {
  check_batch(3, 60, 70, 50);
  check_batch(3, 61, 64, 5);  // more to fetch than the steps of its tiles
  check_batch(2, 1, 200, 1);
}

}  // namespace
