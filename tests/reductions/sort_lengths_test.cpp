// Sorting at lengths around those of registers, register blocks and partitions, against the standard library.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "nax/backend/cpu/sort/sort.hpp"

namespace sort_lengths_test {

template <class T>
class SortLengths : public testing::Test {};
using Types = testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t,
                             std::int16_t, std::uint8_t>;
TYPED_TEST_SUITE(SortLengths, Types);

template <class T>
bool before(T a, T b) {  // NaN last
  return a < b || (a == a && b != b);
}

// Numbers of one kind: random, few different ones, rising, falling, special.
template <class T>
std::vector<T> numbers(int kind, std::int64_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  std::uint64_t state = static_cast<std::uint64_t>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    T& v = x[static_cast<std::size_t>(i)];
    const auto random = static_cast<std::int64_t>(state >> 20);
    if (kind == 0)
      v = static_cast<T>(std::is_floating_point_v<T> ? random - (std::int64_t{1} << 43) : random);
    if (kind == 1) v = static_cast<T>(random % 3);
    if (kind == 2) v = static_cast<T>(i);
    if (kind == 3) v = static_cast<T>(n - i);
    if (kind == 4) {
      const T specials[] = {std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest(),
                            std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            static_cast<T>(-std::numeric_limits<T>::quiet_NaN()),
                            static_cast<T>(-std::numeric_limits<T>::infinity()),
                            static_cast<T>(-T(0)),
                            T(0),
                            T(1)};
      v = specials[random % 9];
    }
  }
  return x;
}

TYPED_TEST(SortLengths, ValuesAndPlaces) {
  using T = TypeParam;
  for (int kind = 0; kind < 5; ++kind)
    for (const std::int64_t n : {0,   1,   2,   7,   8,   15,  16,  17,  31,  32,  33,  63,   64,   65,   100,
                                 127, 128, 129, 191, 255, 256, 257, 319, 500, 511, 512, 1000, 5000, 70001}) {
      const std::vector<T> x = numbers<T>(kind, n);
      for (const bool descending : {false, true}) {
        std::vector<std::int32_t> want(x.size()), order(x.size());
        std::iota(want.begin(), want.end(), 0);
        std::stable_sort(want.begin(), want.end(), [&](std::int32_t a, std::int32_t b) {
          return descending ? before(x[b], x[a]) : before(x[a], x[b]);
        });
        nax::cpu::argsort_line(x.data(), 1, n, descending, order.data(), 1);
        ASSERT_EQ(order, want) << kind << ' ' << n << ' ' << descending;
        std::vector<T> sorted(x.size());
        nax::cpu::sort_run(x.data(), sorted.data(), n, descending);
        for (std::int64_t i = 0; i < n; ++i) {
          const T a = sorted[i], b = x[want[i]];
          ASSERT_TRUE(a == b || (a != a && b != b)) << kind << ' ' << n << ' ' << i;
        }
        if (std::is_floating_point_v<T> && kind == 4) {
          const auto negative_zeros = [](const std::vector<T>& v) {
            return std::count_if(v.begin(), v.end(), [](T e) { return e == 0 && std::signbit(double(e)); });
          };
          ASSERT_EQ(negative_zeros(sorted), negative_zeros(x)) << n;
        }
      }
    }
}

TEST(SortNaN, OneAnywhereComesLast) {
  constexpr std::int64_t n = 1031;
  const std::vector<float> x = numbers<float>(0, n);
  for (std::int64_t at = 0; at < n; ++at) {
    std::vector<float> with = x, want = x, sorted(x.size());
    with[at] = std::numeric_limits<float>::quiet_NaN();
    want.erase(want.begin() + at);
    std::sort(want.begin(), want.end());
    nax::cpu::sort_run(with.data(), sorted.data(), n, false);
    ASSERT_TRUE(std::isnan(sorted.back())) << at;
    sorted.pop_back();
    ASSERT_EQ(sorted, want) << at;
  }
}

#ifdef NAX_AVX512
TEST(QuickSort, BadPivotsEndInTheStandardSort) {
  std::vector<std::int32_t> x = numbers<std::int32_t>(0, 3000), want = x;
  std::sort(want.begin(), want.end());
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<std::int32_t> y = x;
    std::uint64_t state = 1;
    nax::cpu::detail::quick_sort(y.data(), 3000, depth, state);
    EXPECT_EQ(y, want);
  }
}
#endif

}  // namespace sort_lengths_test
