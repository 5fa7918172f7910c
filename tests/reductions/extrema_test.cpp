// Derivatives of max and min by rows: one element, ties, NaN and infinities in a row, at lengths around a
// packet's; against the definition, and against axes that are not rows.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace extrema_test {

using nax::Array;

template <class T>
class Extrema : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Extrema, Types);

// Values that repeat, and in some rows ones that are not finite.
template <class T>
Array<T> values(std::int64_t rows, std::int64_t n) {
  std::vector<T> x;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<T>((i * 5 + r * 3) % 7));
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  if (rows > 3) {
    x[static_cast<std::size_t>(n + n / 2)] = inf;
    x[static_cast<std::size_t>(2 * n + n - 1)] = nan;
    x[static_cast<std::size_t>(2 * n)] = nan;
    x[static_cast<std::size_t>(3 * n)] = -inf;
  }
  return nax::array(x).reshape({rows, n});
}

template <class T>
bool reaches(T x, T y) {
  return x == y || std::isnan(x);
}

TYPED_TEST(Extrema, RowsAndColumns) {
  using T = TypeParam;
  for (const std::int64_t rows : {1, 5})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << n);
      const Array<T> x = values<T>(rows, n), w = nax::arange<T>(static_cast<T>(rows)) + T(1);
      const Array<T> t = nax::arange<T>(static_cast<T>(rows * n)).reshape({rows, n});
      const auto check = [&](const auto& extremum) {
        const auto by_rows = [&](const Array<T>& a) { return nax::sum(extremum(a, 1) * w); };
        const auto by_columns = [&](const Array<T>& a) { return nax::sum(extremum(a, 0) * w); };
        const auto of_rows = [&](const Array<T>& a) { return extremum(a, 1); };
        const Array<T> g = nax::grad(by_rows)(x),
                       columns = nax::grad(by_columns)(nax::copy(nax::transpose(x)));
        const auto [y, tangent] = nax::jvp(of_rows, std::tuple{x}, std::tuple{t});
        for (std::int64_t r = 0; r < rows; ++r) {
          const T* const row = x.data() + r * n;
          const T top = y.data()[r];
          T count = 0, sum = 0;
          for (std::int64_t i = 0; i < n; ++i)
            if (reaches(row[i], top)) count += 1, sum += t.data()[r * n + i];
          for (std::int64_t i = 0; i < n; ++i) {
            const T want = reaches(row[i], top) ? w.data()[r] / count : T(0);
            EXPECT_EQ(g.data()[r * n + i], want);
            EXPECT_EQ(columns.data()[i * rows + r], want);
          }
          EXPECT_EQ(tangent.data()[r], sum / count);
        }
      };
      check([](const Array<T>& a, int axis) { return nax::max(a, {.axis = axis}); });
      check([](const Array<T>& a, int axis) { return nax::min(a, {.axis = axis}); });
    }
}

TYPED_TEST(Extrema, WholeKeptMappedAndTwice) {
  using T = TypeParam;
  const Array<T> x = values<T>(2, 9);
  const auto whole = [](const Array<T>& a) { return nax::max(a); };
  const auto kept = [](const Array<T>& a) { return nax::sum(nax::max(a, {.axis = 1, .keepdims = true})); };
  const auto rows = [](const Array<T>& a) { return nax::sum(nax::max(a, {.axis = 1})); };
  const Array<T> each = nax::vmap(nax::grad(whole))(x), g = nax::grad(rows)(x), all = nax::grad(whole)(x);
  EXPECT_EQ(each.to_vector(), g.to_vector());
  EXPECT_EQ(nax::grad(kept)(x).to_vector(), g.to_vector());
  T sum = 0;
  for (std::int64_t i = 0; i < 18; ++i) sum += all.data()[i];
  EXPECT_NEAR(static_cast<double>(sum), 1, 1e-6);
  // The gradient of a sum of squared maxima's gradient: recorded sweeps.
  const auto squared = [&](const Array<T>& a) {
    const Array<T> y = nax::max(a, {.axis = 1});
    return nax::sum(y * y);
  };
  const auto twice = [&](const Array<T>& a) { return nax::sum(nax::grad(squared)(a)); };
  const Array<T> second = nax::grad(twice)(x);
  for (std::int64_t i = 0; i < 18; ++i) EXPECT_NEAR(second.data()[i], 2 * g.data()[i], 1e-5);
}

}  // namespace extrema_test
