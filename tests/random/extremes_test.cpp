// Samplers at parameters where float has too few digits, and intervals at the ends of the range.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random.hpp"

namespace extremes_test {

using nax::Array, nax::half, nax::Shape;
namespace random = nax::random;

const random::Key key = random::key(3);
constexpr std::int64_t many = 100000;

struct Moments {
  double mean = 0, variance = 0;
  template <class T>
  explicit Moments(const Array<T>& x) {
    const std::vector<T> values = x.to_vector();
    for (const T v : values) mean += static_cast<double>(v);
    mean /= static_cast<double>(values.size());
    for (const T v : values) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
    variance /= static_cast<double>(values.size());
  }
};

TEST(Extremes, CountsOfHighRates) {
  for (const double rate : {2e4, 1e6, 1e8}) {
    const Moments found(random::poisson(key, static_cast<float>(rate), {many}));
    EXPECT_NEAR(found.variance / rate, 1, 0.03) << rate;
    EXPECT_NEAR(found.mean / rate, 1, 0.03 / std::sqrt(rate)) << rate;
  }
  for (const double n : {1e5, 1e7}) {
    const Moments found(random::binomial(key, static_cast<float>(n), 0.25f, {many}));
    EXPECT_NEAR(found.variance / (n * 0.1875), 1, 0.03) << n;
  }
}
// Means by mpmath: density over probability of more, 4.2256 at 4.
TEST(Extremes, TruncatedNormalInTheTails) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [low, mean] : {std::pair{4., 4.2256071}, {10., 10.0980932}, {40., 40.0249688}}) {
    const Array<float> draws = random::truncated_normal(key, low, infinity, {many});
    EXPECT_NEAR(Moments(draws).mean, mean, 3e-3) << low;
    const std::vector<float> values = draws.to_vector();
    EXPECT_GT(*std::min_element(values.begin(), values.end()), low);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), low + 5);
    EXPECT_NEAR(Moments(random::truncated_normal<double>(key, -infinity, -low, {many})).mean, -mean, 3e-3);
  }
  const std::vector<float> between = random::truncated_normal(key, 5, 5.5, {many}).to_vector();
  EXPECT_TRUE(*std::min_element(between.begin(), between.end()) > 5 &&
              *std::max_element(between.begin(), between.end()) < 5.5);
}
TEST(Extremes, TruncatedNormalWithoutBounds) {
  // JAX's numbers.
  const float infinity = std::numeric_limits<float>::infinity();
  const auto draws = [](double low, double high) {
    return random::truncated_normal(random::key(0), low, high, {8}).to_vector();
  };
  const std::vector<float> all = draws(-infinity, infinity), below = draws(-infinity, 0),
                           above = draws(0, infinity);
  EXPECT_NEAR(all[0], 1.6226417f, 1e-5f);
  EXPECT_NEAR(all[7], 0.4943785f, 1e-5f);
  EXPECT_NEAR(below[5], -1.3867993f, 1e-5f);
  EXPECT_NEAR(above[1], 2.3004963f, 1e-5f);
  // Where the uniform number is the lower end, it is the least of `normal`; this key draws that.
  for (const double low : {-std::numeric_limits<double>::infinity(), -1e30}) {
    const float least = nax::min(random::truncated_normal(random::key(46), low, 0., {1 << 16})).item();
    EXPECT_NEAR(least, -5.419983f, 1e-5f) << low;
  }
}
TEST(Extremes, WaldDrawsArePositive) {
  const std::vector<float> draws = random::wald(key, 1e4f, {many}).to_vector();
  EXPECT_GT(*std::min_element(draws.begin(), draws.end()), 0);
  EXPECT_NEAR(Moments(random::wald<double>(key, 2., {many})).mean, 2, 0.05);
}
TEST(Extremes, DirichletDrawsSumToOne) {
  const Array<float> draws = random::dirichlet(key, Array<float>{.001f, .001f, .002f}, {1000});
  for (const float total : nax::sum(draws, {.axis = -1}).to_vector()) EXPECT_NEAR(total, 1, 1e-6);
}
TEST(Extremes, UniformDrawsStayBelowTheUpperEnd) {
  for (const half x : random::uniform<half>(key, {many}, 1, 1.5).to_vector()) ASSERT_LT(float(x), 1.5f);
  for (const half x : random::uniform<half>(key, {many}, -1.5, -1).to_vector()) ASSERT_LT(float(x), -1.f);
  for (const float x : random::uniform<float>(key, {many}, 16777215, 16777216).to_vector())
    ASSERT_LT(x, 16777216.f);
}
TEST(Extremes, UniformDrawsOfTheWholeRange) {
  const std::vector<double> wide = random::uniform<double>(key, {many}, -1e308, 1e308).to_vector();
  double sum = 0;
  for (const double x : wide) {
    ASSERT_TRUE(std::abs(x) <= 1e308);
    sum += x / 1e308;
  }
  EXPECT_NEAR(sum / many, 0, 0.01);
  for (const half x : random::uniform<half>(key, {many}, -60000, 60000).to_vector())
    ASSERT_TRUE(std::abs(float(x)) <= 60000);
}

}  // namespace extremes_test
