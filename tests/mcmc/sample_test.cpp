// Draws of NUTS and HMC next to what is known of their distributions. Fixed keys make them deterministic.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nax/linalg.hpp>
#include <nax/mcmc.hpp>
#include <nax/numpy.hpp>
#include <tuple>

#include "support/refusal.hpp"

namespace mcmc_sample_test {

using nax::sum;
using Real = nax::Array<double>;
namespace mcmc = nax::mcmc;
namespace random = nax::random;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Means and second moments within four standard errors.
void expect_moments(const Real& draws, const Real& mean, const Real& covariance) {
  const std::int64_t n = mean.shape(0), count = draws.shape(0) * draws.shape(1);
  const auto expect = [&](const Real& values, double wanted, std::int64_t i, std::int64_t j) {
    const double error = nax::std(values).item() / std::sqrt(mcmc::ess(values, {.method = "mean"}).item());
    EXPECT_NEAR(nax::mean(values).item(), wanted, 4 * error) << i << ' ' << j;
    EXPECT_LT(error, 0.1 * nax::std(values).item());
  };
  ASSERT_GT(count, 0);
  const Real centred = draws - mean;
  for (std::int64_t i = 0; i < n; ++i) {
    expect(draws(nax::ellipsis, i), mean(i).item(), i, -1);
    for (std::int64_t j = 0; j <= i; ++j)
      expect(centred(nax::ellipsis, i) * centred(nax::ellipsis, j), covariance(i, j).item(), i, j);
  }
  EXPECT_LT(nax::max(mcmc::rhat(draws)).item(), 1.02);
}

struct Gaussian {
  Real mean{1, -2, 100};
  Real covariance{{4, 1.8, 0}, {1.8, 1, 0}, {0, 0, 1e-4}};
  Real precision = nax::linalg::inv(covariance);
  Real operator()(const Real& x) const { return -0.5 * dot(x - mean, matmul(precision, x - mean)); }
};

TEST(Nuts, DrawsGaussians) {
  const Gaussian f;
  for (const char* metric : {"diag", "dense"}) {
    const auto s = mcmc::nuts(random::key(1), f, Real{0, 0, 100}, {.metric = metric});
    EXPECT_EQ(s.x.shape(), (nax::Shape{4, 1000, 3}));
    expect_moments(s.x, f.mean, f.covariance);
    EXPECT_EQ(s.divergences, 0);
    EXPECT_NEAR(nax::mean(s.accept).item(), 0.87, 0.1);  // the mean step length is shorter
    EXPECT_NEAR(s.log_density(2, 7).item(), f(s.x(2, 7)).item(), 1e-9);
    EXPECT_EQ(s.step_size.shape(), nax::Shape{4});
    const bool dense = metric == std::string("dense");
    EXPECT_EQ(s.inverse_mass.ndim(), dense ? 3 : 2);
    const double variance = dense ? s.inverse_mass(0, 2, 2).item() : s.inverse_mass(0, 2).item();
    EXPECT_NEAR(variance, 1e-4, 0.5e-4);
  }
}

TEST(Hmc, DrawsGaussians) {
  const Gaussian f;
  for (const char* metric : {"diag", "dense"}) {
    const auto s = mcmc::hmc(random::key(2), f, Real{0, 0, 100}, {.draws = 2000, .metric = metric});
    expect_moments(s.x, f.mean, f.covariance);
    EXPECT_EQ(s.divergences, 0);
  }
}

TEST(Nuts, SameKeySameDraws) {
  const auto f = [](const auto& x) { return -0.5 * sum(x * x); };
  const auto draws = [&](int key) {
    return mcmc::nuts(random::key(key), f, Real{0, 0}, {.draws = 10, .warmup = 30, .chains = 2}).x;
  };
  EXPECT_TRUE(array_equal(draws(3), draws(3)));
  EXPECT_FALSE(array_equal(draws(3), draws(4)));
  EXPECT_FALSE(array_equal(draws(3)(0), draws(3)(1)));
}

// D. Rubin's eight schools, non-centred. Gelman and others, Bayesian Data Analysis; posteriordb's reference
// draws: mu 4.4 (sd 3.3), tau 3.6 (sd 3.2).
struct Schools {
  Real mu, log_tau, theta;
};
TEST(Nuts, EightSchools) {
  const Real y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
  const auto f = [](const Schools& p, const Real& y, const Real& sigma) -> Real {
    const Real tau = exp(p.log_tau), z = (y - p.mu - tau * p.theta) / sigma;
    return -0.5 * sum(z * z) - 0.5 * sum(p.theta * p.theta) - 0.5 * square(p.mu / 5) -
           log1p(square(tau / 5)) + p.log_tau;
  };
  const auto s = mcmc::nuts(random::key(0), f, Schools{Real(0.), Real(0.), nax::zeros<double>({8})},
                            {.draws = 2000, .target_accept = 0.9, .args = std::tuple{y, sigma}});
  EXPECT_EQ(s.x.theta.shape(), (nax::Shape{4, 2000, 8}));
  EXPECT_NEAR(nax::mean(s.x.mu).item(), 4.4, 0.2);
  EXPECT_NEAR(nax::mean(exp(s.x.log_tau)).item(), 3.6, 0.25);
  EXPECT_NEAR(nax::std(s.x.mu).item(), 3.3, 0.2);
  EXPECT_NEAR(nax::std(exp(s.x.log_tau)).item(), 3.2, 0.35);
  EXPECT_LT(mcmc::rhat(s.x.mu).item(), 1.01);
  EXPECT_LT(nax::max(mcmc::rhat(s.x.theta)).item(), 1.01);
  EXPECT_GT(mcmc::ess(s.x.mu).item(), 1000);
  EXPECT_LT(s.divergences, 40);
}

TEST(Nuts, OfFloatsAndBoundedDensities) {
  // An exponential distribution, whose density ends at 0.
  const auto f = [](const nax::Array<float>& x) -> nax::Array<float> {
    return where(x(0) >= 0.f, -x(0), -std::numeric_limits<float>::infinity());
  };
  const auto s = mcmc::nuts(random::key(5), f, nax::Array<float>{2}, {.draws = 2000});
  static_assert(std::is_same_v<decltype(s.x), nax::Array<float>>);
  EXPECT_GE(nax::min(s.x).item(), 0);
  EXPECT_NEAR(nax::mean(s.x).item(), 1, 0.15);
  EXPECT_GT(s.divergences, 0);
  EXPECT_EQ(nax::sum(s.divergent.astype<int>()).item(), s.divergences);
}

// Warm-ups whose second window would hold a draw or two.
TEST(Nuts, WarmUpsOfAnyLength) {
  for (const int warmup : {150, 151, 152, 160, 199, 200, 201}) {
    const auto s = mcmc::nuts(random::key(1), [](const Real& x) { return Real(-0.5 * sum(x * x)); },
                              Real{0, 0}, {.draws = 20, .warmup = warmup, .chains = 1});
    for (const double variance : s.inverse_mass.to_vector()) {
      EXPECT_GT(variance, 0.1) << warmup;
      EXPECT_LT(variance, 4) << warmup;
    }
  }
}

TEST(Nuts, RefusesBadInput) {
  const auto f = [](const auto& x) { return -0.5 * sum(x * x); };
  const Real x0{0, 0};
  const random::Key key = random::key(0);
  EXPECT_EQ(refusal([&] { mcmc::nuts(key, f, x0, {.draws = 0}); }),
            "nuts: draws and chains must be positive, warmup not negative: 0, 4 and 1000");
  EXPECT_EQ(refusal([&] { mcmc::hmc(key, f, x0, {.metric = "full"}); }),
            "hmc: metric must be 'diag', 'dense' or 'unit', not 'full'");
  EXPECT_EQ(refusal([&] {
              mcmc::nuts(
                  key, [](const auto& x) { return sum(x) * nan; }, x0);
            }),
            "nuts: the log density and its gradient must be finite at the start: nan and nan");
  const auto many = [](const auto& x) { return x * x; };
  EXPECT_EQ(refusal<nax::ShapeError>([&] { mcmc::nuts(key, many, x0); }),
            "nuts: the function must return one number, not 2");
  EXPECT_EQ(refusal([&] { mcmc::nuts(random::split(key, 3), f, x0); }),
            "nuts: key must be a single key, not of shape (3,)");
  EXPECT_EQ(refusal([&] { mcmc::nuts(key, f, nax::zeros<double>({0})); }), "nuts: x0 has no elements");
  EXPECT_EQ(refusal([&] { mcmc::nuts(key, f, x0, {.target_accept = 1}); }),
            "nuts: target_accept must lie between 0 and 1, max_depth from 1 to 30, path_length and "
            "max_energy_error be positive, step_size and jitter not negative");
  EXPECT_EQ(refusal([&] {
              mcmc::nuts(
                  key, [](const auto& x) { return 0 * sum(x); }, x0);
            }),
            "nuts: no step length fits the density: it is improper");
}

}  // namespace mcmc_sample_test
