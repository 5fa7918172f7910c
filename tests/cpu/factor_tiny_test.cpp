#include "nax/backend/cpu/factor/factor_tiny.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "nax/backend/cpu/factor/factor.hpp"

// Small matrices factored by packets, one matrix a lane, against single factorisations: every order, rows and
// columns, fewer matrices than lanes, zero pivots, matrices that are singular, not positive definite or not
// finite. A matrix's result does not depend on its neighbours.

namespace {

using namespace nax::cpu;

template <class T>
class TinyFactors : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TinyFactors, Types);

// Number 0 has a zero in front, 1 is singular, 2 holds a NaN.
template <class T>
std::vector<T> matrix(std::int64_t n, std::int64_t number) {
  std::vector<T> a;
  for (std::int64_t i = 0; i < n * n; ++i)
    a.push_back(static_cast<T>(std::sin(static_cast<double>(i * 3 + number * 17) * 1.3)) +
                (i % (n + 1) == 0 ? T(2) : T(0)));
  if (number == 0 && n > 1) a[0] = T(0);
  if (number == 1)
    for (std::int64_t j = 0; j < n; ++j) a[static_cast<std::size_t>((n - 1) * n + j)] = T(0);
  if (number == 2) a.back() = std::numeric_limits<T>::quiet_NaN();
  return a;
}

template <class T>
void expect_close(T got, T want, std::int64_t n) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got));
  else if (std::isinf(want))
    EXPECT_EQ(got, want);
  else
    EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want),
                static_cast<double>(200 * n) * static_cast<double>(std::numeric_limits<T>::epsilon()) *
                    std::max(1.0, std::abs(static_cast<double>(want))));
}

TYPED_TEST(TinyFactors, SolveAndDiagonals) {
  using T = TypeParam;
  constexpr std::int64_t w = nax::simd::Packet<T>::size;
  for (std::int64_t n = 1; n <= most_tiny_order; ++n)
    for (const std::int64_t m : {std::int64_t{1}, std::int64_t{3}, n, most_tiny_right})
      for (const std::int64_t some : {std::int64_t{1}, w - 1, w})
        for (const bool columns : {false, true})
          for (const bool identity : {false, true}) {
            if (identity && m != n) continue;
            SCOPED_TRACE(testing::Message() << n << " x " << n << ", " << m << " columns, " << some
                                            << " matrices, by columns " << columns);
            std::vector<std::vector<T>> a, b;
            const T *pa[w], *pb[w];
            for (std::int64_t l = 0; l < w; ++l) {
              a.push_back(matrix<T>(n, l));
              b.emplace_back();
              for (std::int64_t e = 0; e < n * m; ++e)
                b.back().push_back(identity ? T(e % (n + 1) == 0) : static_cast<T>(e % 5 - 2 + l));
            }
            for (std::int64_t l = 0; l < w; ++l) {
              pa[l] = a[static_cast<std::size_t>(std::min(l, some - 1))].data();
              pb[l] = b[static_cast<std::size_t>(std::min(l, some - 1))].data();
            }
            const std::int64_t row = columns ? 1 : n, column = columns ? n : 1;
            std::vector<T> x(static_cast<std::size_t>(some * n * m), T(-9)),
                diagonals(static_cast<std::size_t>(some * n), T(-9)), signs(static_cast<std::size_t>(some));
            solve_tiny<T>(pa, row, column, n, identity ? nullptr : pb, m, 1, m, x.data(), some);
            diagonals_tiny<T>(pa, row, column, n, diagonals.data(), signs.data(), some);
            for (std::int64_t l = 0; l < some; ++l) {
              std::vector<T> lu(static_cast<std::size_t>(n * n)), want(static_cast<std::size_t>(n * m));
              for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j)
                  lu[static_cast<std::size_t>(i * n + j)] = pa[l][i * row + j * column];
              std::vector<std::int32_t> rows(static_cast<std::size_t>(n));
              const int sign = lu_factor(lu.data(), n, n, n, rows.data());
              lu_solve(lu.data(), rows.data(), n, pb[l], want.data(), m);
              EXPECT_EQ(signs[static_cast<std::size_t>(l)], T(sign));
              for (std::int64_t i = 0; i < n; ++i)
                expect_close(diagonals[static_cast<std::size_t>(l * n + i)],
                             lu[static_cast<std::size_t>(i * n + i)], n);
              if (l == 1) continue;  // singular but for rounding
              for (std::int64_t e = 0; e < n * m; ++e)
                expect_close(x[static_cast<std::size_t>(l * n * m + e)], want[static_cast<std::size_t>(e)],
                             10 * n);
            }
            // Another lane, other neighbours.
            std::vector<T> again(static_cast<std::size_t>(n * m));
            const T *qa[w], *qb[w];
            for (std::int64_t l = 0; l < w; ++l) qa[l] = pa[some - 1], qb[l] = pb[some - 1];
            solve_tiny<T>(qa, row, column, n, identity ? nullptr : qb, m, 1, m, again.data(), 1);
            EXPECT_EQ(std::memcmp(again.data(), x.data() + (some - 1) * n * m, again.size() * sizeof(T)), 0);
          }
}

TYPED_TEST(TinyFactors, Cholesky) {
  using T = TypeParam;
  for (std::int64_t n = 1; n <= most_tiny_order; ++n)
    for (const std::int64_t count : {1, 2, 7, 8, 9, 33}) {
      std::vector<T> all;
      for (std::int64_t number = 0; number < count; ++number) {
        const std::vector<T> half = matrix<T>(n, number + 3);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            T sum = number == 4 ? T(0) : i == j ? T(1) : T(0);
            for (std::int64_t k = 0; k < n; ++k)
              sum += half[static_cast<std::size_t>(i * n + k)] * half[static_cast<std::size_t>(j * n + k)];
            all.push_back(number == 5 ? -sum : sum);  // one that has no factor
          }
      }
      std::vector<T> want = all, got = all;
      for (std::int64_t number = 0; number < count; ++number)
        cholesky_factor(want.data() + number * n * n, n);
      cholesky_tiny(got.data(), n, count);
      for (std::size_t e = 0; e < want.size(); ++e) expect_close(got[e], want[e], 10 * n);
    }
}

}  // namespace
