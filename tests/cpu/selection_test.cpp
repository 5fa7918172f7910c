// any, all, nonzero, selection and search in runs against the standard library: at lengths around those of
// packets, blocks and samples, for all types, with NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "nax/backend/cpu/packets/true_places.hpp"
#include "nax/backend/cpu/packets/truth.hpp"
#include "nax/backend/cpu/reduce/count_bins.hpp"
#include "nax/backend/cpu/sort/search.hpp"
#include "nax/backend/cpu/sort/select.hpp"
#include "nax/backend/cpu/sort/top_k.hpp"

namespace {

using namespace nax;

const std::vector<std::int64_t> lengths = {0,   1,   2,   3,    7,    8,    9,    15,   16,   17,
                                           31,  32,  33,  63,   64,   65,   127,  128,  129,  255,
                                           256, 257, 500, 1000, 1023, 1024, 1025, 4097, 20011};

template <class T>
bool before(T a, T b) {  // NaN last
  if (a != a) return false;
  return b != b || a < b;
}

// Kinds of runs.
enum Pattern { random_values, few_values, ascending, descending, equal, mostly_nan, some_nan, patterns };

template <class T>
std::vector<T> run_of(Pattern pattern, std::int64_t n, std::mt19937& random) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto r = random();
    auto v = static_cast<double>(r % 1000003);
    if (pattern == few_values) v = static_cast<double>(r % 3);
    if (pattern == ascending) v = static_cast<double>(i);
    if (pattern == descending) v = static_cast<double>(x.size() - i);
    if (pattern == equal) v = 2;
    if (std::is_signed_v<T>) v -= 1;
    x[i] = sizeof(T) < 4 ? static_cast<T>(static_cast<int>(v) % 100) : static_cast<T>(v);
    if constexpr (std::is_floating_point_v<T>) {
      if (pattern == few_values && x[i] == 0 && r % 2) x[i] = T(-0.);
      if ((pattern == mostly_nan && r % 8 != 7) || (pattern == some_nan && r % 50 == 3))
        x[i] = std::numeric_limits<T>::quiet_NaN();
      if (pattern == random_values && r % 97 == 5) x[i] = std::numeric_limits<T>::infinity();
      if (pattern == random_values && r % 97 == 6) x[i] = -std::numeric_limits<T>::infinity();
    }
  }
  return x;
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

template <class T>
class Selection : public testing::Test {
 protected:
  template <class F>
  void for_each_run(const F& f) {
    std::mt19937 random(7);
    for (const std::int64_t n : lengths)
      for (int p = 0; p < patterns; ++p) {
        SCOPED_TRACE(testing::Message() << "n " << n << ", pattern " << p);
        f(run_of<T>(static_cast<Pattern>(p), n, random), random);
        if (testing::Test::HasFailure()) return;
      }
  }
};
using Numbers = testing::Types<float, double, std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Selection, Numbers);

TYPED_TEST(Selection, TruthOfRuns) {
  using T = TypeParam;
  this->for_each_run([](std::vector<T> x, std::mt19937& random) {
    const auto n = static_cast<std::int64_t>(x.size());
    for (int share = 0; share < 5; ++share) {
      for (T& v : x) {
        const bool zero = share == 0 || (share == 1 && random() % 2) || (share == 2 && random() % 500);
        v = zero ? T(0) : v != T(0) ? v : T(1);
      }
      if (share == 4 && n > 0) x.back() = T(0);
      const std::int64_t count = std::count_if(x.begin(), x.end(), [](T v) { return v != T(0); });
      EXPECT_EQ(cpu::detail::count_nonzero(x.data(), n), count);
      EXPECT_EQ(cpu::detail::finds_truth<true>(x.data(), n), count > 0);
      EXPECT_EQ(cpu::detail::finds_truth<false>(x.data(), n), count < n);
    }
  });
}

TYPED_TEST(Selection, PartitionsLikeASort) {
  using T = TypeParam;
  this->for_each_run([](const std::vector<T>& x, std::mt19937& random) {
    const auto n = static_cast<std::int64_t>(x.size());
    if (n == 0) return;
    std::vector<T> sorted = x;
    std::stable_sort(sorted.begin(), sorted.end(), before<T>);
    for (const std::int64_t rank :
         {std::int64_t{0}, n / 2, n - 1, static_cast<std::int64_t>(random() % x.size())}) {
      std::vector<T> got(x.size());
      cpu::partition_line(x.data(), n, rank, got.data());
      std::vector<std::int32_t> places(x.size());
      cpu::argpartition_line(x.data(), n, rank, places.data());
      const auto at = static_cast<std::size_t>(rank);
      EXPECT_TRUE(same(got[at], sorted[at]));
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_TRUE(i < at ? !before(got[at], got[i]) : !before(got[i], got[at]));
        EXPECT_TRUE(same(got[i], x[static_cast<std::size_t>(places[i])]));
      }
      std::vector<T> all = got;
      std::stable_sort(all.begin(), all.end(), before<T>);
      EXPECT_TRUE(std::equal(all.begin(), all.end(), sorted.begin(), same<T>));
      std::sort(places.begin(), places.end());
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(places[i], static_cast<std::int32_t>(i));
    }
  });
}

TYPED_TEST(Selection, TopKIsTheStableDescendingOrder) {
  using T = TypeParam;
  this->for_each_run([](const std::vector<T>& x, std::mt19937&) {
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<std::int32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return before(x[static_cast<std::size_t>(b)], x[static_cast<std::size_t>(a)]);
    });
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, n / 20, n / 5, n}) {
      if (k > n) continue;
      std::vector<std::int32_t> got(static_cast<std::size_t>(k));
      cpu::top_k_line(x.data(), n, k, got.data());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), order.begin())) << "k " << k;
    }
  });
}

TYPED_TEST(Selection, SearchCountsWhatComesBefore) {
  using T = TypeParam;
  this->for_each_run([](std::vector<T> x, std::mt19937& random) {
    std::vector<T> sought = run_of<T>(static_cast<Pattern>(random() % patterns), 100, random);
    sought.insert(sought.end(), x.begin(), x.end());
    std::stable_sort(x.begin(), x.end(), before<T>);
    sought.insert(sought.end(), x.begin(), x.end());  // ascending ones
    for (std::size_t i = 0; i + 1 < x.size(); i += 3) sought.push_back(x[i]);
    std::vector<std::int32_t> got(sought.size());
    for (const bool right : {false, true}) {
      cpu::search_sorted(x.data(), static_cast<std::int64_t>(x.size()), sought.data(),
                         static_cast<std::int64_t>(sought.size()), right, got.data());
      for (std::size_t i = 0; i < sought.size(); ++i) {
        const auto want = right ? std::upper_bound(x.begin(), x.end(), sought[i], before<T>)
                                : std::lower_bound(x.begin(), x.end(), sought[i], before<T>);
        EXPECT_EQ(got[i], want - x.begin());
      }
    }
  });
}

TYPED_TEST(Selection, ExtremesAndCountsOfIntegers) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    this->for_each_run([](std::vector<T> x, std::mt19937&) {
      const auto n = static_cast<std::int64_t>(x.size());
      const auto [least, greatest] = cpu::extremes(x.data(), n);
      if (n > 0) {
        EXPECT_EQ(least, *std::min_element(x.begin(), x.end()));
        EXPECT_EQ(greatest, *std::max_element(x.begin(), x.end()));
      }
      for (T& v : x) v = static_cast<T>(v < T(0) ? T(0) : v % T(60));
      for (const std::int64_t length : {0, 1, 40, 100, 5000}) {
        std::vector<std::int32_t> got(static_cast<std::size_t>(length), 1), want = got;
        cpu::count_bins(x.data(), n, length, got.data());
        for (const T v : x)
          if (static_cast<std::int64_t>(v) < length) ++want[static_cast<std::size_t>(v)];
        EXPECT_EQ(got, want);
      }
    });
  }
}

template <class T>
class Quantiles : public Selection<T> {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Quantiles, Floats);

TYPED_TEST(Quantiles, TakeNeighboursOfASort) {
  using T = TypeParam;
  this->for_each_run([](const std::vector<T>& x, std::mt19937& random) {
    const auto n = static_cast<std::int64_t>(x.size());
    if (n == 0) return;
    std::vector<std::int32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return before(x[static_cast<std::size_t>(a)], x[static_cast<std::size_t>(b)]);
    });
    const bool nan = std::any_of(x.begin(), x.end(), [](T v) { return v != v; });
    for (const std::int64_t rank :
         {std::int64_t{0}, n / 2, n - 1, static_cast<std::int64_t>(random() % x.size())}) {
      T got[3];
      std::int32_t places[3];
      cpu::quantile_line(x.data(), n, rank, got);
      cpu::argquantile_line(x.data(), n, rank, places);
      EXPECT_EQ(nan, got[2] != got[2]);
      if (nan) {
        for (const std::int32_t place : places) EXPECT_EQ(place, order.back());
        continue;
      }
      const auto low = static_cast<std::size_t>(rank), high = std::min(low + 1, x.size() - 1);
      EXPECT_EQ(places[0], order[low]);
      EXPECT_EQ(places[1], order[high]);
      EXPECT_EQ(got[0], x[static_cast<std::size_t>(order[low])]);
      EXPECT_EQ(got[1], x[static_cast<std::size_t>(order[high])]);
    }
  });
}

TEST(TruePlaces, OfMasksInRoomThatJustSuffices) {
  std::mt19937 random(3);
  for (const std::int64_t n : lengths)
    for (const unsigned every : {1u, 2u, 3u, 50u, 100000u}) {
      const std::unique_ptr<bool[]> mask(new bool[static_cast<std::size_t>(n) + 1]);
      std::vector<std::int64_t> want;
      for (std::int64_t i = 0; i < n; ++i)
        if ((mask[static_cast<std::size_t>(i)] = random() % every == 0)) want.push_back(i + 5);
      const std::int64_t count = cpu::detail::count_true(mask.get(), n);
      ASSERT_EQ(count, static_cast<std::int64_t>(want.size()));
      std::vector<std::int64_t> got(want.size());
      std::vector<std::int32_t> narrow(want.size());
      EXPECT_EQ(cpu::write_true_places<std::int64_t>(mask.get(), n, 5, got.data(), got.data() + count),
                got.data() + count);
      cpu::write_true_places<std::int32_t>(mask.get(), n, 5, narrow.data(), narrow.data() + count);
      EXPECT_EQ(got, want);
      EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), want.begin()));
    }
}

}  // namespace
