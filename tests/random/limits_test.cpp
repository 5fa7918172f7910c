// Draws at the ends of parameters' ranges and beyond them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/modules/stats/multivariate_normal.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/random/counts.hpp"
#include "nax/random/multivariate.hpp"
#include "nax/random/transformed.hpp"

namespace limits_test {

using A = nax::Array<double>;
namespace random = nax::random;

TEST(RandomLimits, GeometricOutsideItsRange) {
  const auto key = random::key(0);
  const auto of = [&](double p) { return random::geometric(key, A(p), {3}).to_vector(); };
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_EQ(of(0), (std::vector<int>{most, most, most}));
  EXPECT_EQ(of(1e-300), (std::vector<int>{most, most, most}));
  EXPECT_EQ(of(1), (std::vector<int>{1, 1, 1}));
  for (const double p : {1.5, -0.5, std::nan("")}) EXPECT_EQ(of(p), (std::vector<int>{0, 0, 0})) << p;
  EXPECT_EQ(random::geometric<std::int64_t>(key, nax::Array<float>(0.f), {1})(0).item(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(random::geometric<std::uint8_t>(key, A(1e-9), {1})(0).item(), 255);
  // JAX's draws in between.
  EXPECT_EQ(random::geometric(key, A(0.3), {4}).to_vector(), (std::vector<int>{3, 5, 1, 2}));
}

TEST(RandomLimits, NormalVectorsOfIndefiniteCovariance) {
  const A mean = {0, 0}, indefinite = {{1, 2}, {2, 1}}, singular = {{1, 1}, {1, 1}};
  for (const A& cov : {indefinite, singular}) {
    const auto draw = random::multivariate_normal(random::key(0), mean, cov).to_vector();
    EXPECT_TRUE(std::isnan(draw[0]) && std::isnan(draw[1]));
    EXPECT_TRUE(std::isnan(nax::stats::multivariate_normal::logpdf(mean, mean, cov).item()));
  }
  // In a batch, and of matrices too large for a packet each: the others have their draws.
  const std::int64_t n = 40;
  const A one = nax::eye<double>(n);
  const A large = nax::stack({one, A(one.at(n - 1, n - 1).set(-1.0)), one});
  for (const A& cov : {nax::stack({A{{2, 1}, {1, 2}}, indefinite, A{{2, 1}, {1, 2}}}), large}) {
    const A draws =
        random::multivariate_normal(random::key(1), nax::zeros<double>({cov.shape(-1)}), cov, {3});
    EXPECT_TRUE(nax::all(nax::isfinite(draws(0))).item());
    EXPECT_TRUE(nax::all(nax::isnan(draws(1))).item());
    EXPECT_TRUE(nax::all(nax::isfinite(draws(2))).item());
  }
}

// Large means, whose squares overflow: draws are near 1 / y, y the square of a normal number.
TEST(RandomLimits, WaldOfLargeMeans) {
  const auto check = [](const std::vector<double>& draws) {
    int far = 0;  // draws of the other root, which a half may not hold
    for (const double x : draws) {
      EXPECT_GT(x, 0);
      far += !(x < 1e12);
    }
    EXPECT_LE(far, 2);
  };
  const random::Key key = random::key(4);
  check(random::wald(key, 1e25f, {64}).astype<double>().to_vector());
  check(random::wald(key, A(1e200), {64}).astype<double>().to_vector());
  check(random::wald<nax::half>(key, nax::half(2000), {64}).astype<double>().to_vector());
}

}  // namespace limits_test
