// R-hat and effective sample sizes, next to ArviZ's.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nax/mcmc.hpp>
#include <nax/numpy.hpp>
#include <string>

#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace mcmc_diagnostics_test {

using Real = nax::Array<double>;
namespace mcmc = nax::mcmc;

TEST(Diagnostics, EqualArviz) {
  const auto& records = golden::goldens("mcmc");
  int cases = 0;
  for (const auto& [name, record] : records) {
    const std::size_t end = name.rfind("/draws");
    if (end == std::string::npos) continue;
    ++cases;
    const Real draws = nax::asarray(record.values, nax::Shape(record.shape.begin(), record.shape.end()));
    const auto expect = [&](const char* what, const Real& got) {
      const double wanted = records.at(name.substr(0, end) + "/" + what).values[0];
      EXPECT_NEAR(got.item(), wanted, 1e-9 * std::abs(wanted)) << name << ' ' << what;
    };
    expect("rhat", mcmc::rhat(draws));
    expect("bulk", mcmc::ess(draws));
    expect("mean", mcmc::ess(draws, {.method = "mean"}));
    expect("tail", mcmc::ess(draws, {.method = "tail"}));
    // Two parameters of float: a number for each.
    const nax::Array<float> both = nax::stack({draws, 2 * draws + 1}, {.axis = -1}).astype<float>();
    EXPECT_EQ(mcmc::rhat(both).shape(), nax::Shape{2});
    EXPECT_NEAR(mcmc::ess(both)(1).item(), mcmc::ess(draws).item(), 1e-3 * mcmc::ess(draws).item());
  }
  EXPECT_EQ(cases, 9);
}

TEST(Diagnostics, OfConstantsAndInfinities) {
  EXPECT_TRUE(std::isnan(mcmc::rhat(nax::ones<double>({2, 10})).item()));
  EXPECT_EQ(mcmc::ess(nax::ones<double>({2, 10})).item(), 20);
  Real draws = nax::arange<double>(20).reshape({2, 10});
  EXPECT_GT(mcmc::rhat(draws).item(), 1.5);
  draws = draws.at(0, 0).set(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(mcmc::rhat(draws).item()) && std::isnan(mcmc::ess(draws).item()));
  EXPECT_EQ(mcmc::ess(nax::ones<double>({2, 10, 0, 3})).shape(), (nax::Shape{0, 3}));
}

TEST(Diagnostics, RefuseBadInput) {
  const Real draws = nax::ones<double>({2, 10});
  EXPECT_EQ(refusal<nax::ShapeError>([&] { mcmc::rhat(nax::ones<double>({10})); }),
            "rhat: draws must have shape (chains, draws, ...), not (10,)");
  EXPECT_EQ(refusal([&] {
              mcmc::ess(nax::ones<double>({2, 3}));
            }),
            "ess: at least one chain of 4 draws is needed, got 2 of 3");
  EXPECT_EQ(refusal([&] {
              mcmc::rhat(nax::ones<double>({0, 5}));
            }),
            "rhat: at least one chain of 4 draws is needed, got 0 of 5");
  EXPECT_EQ(refusal([&] { mcmc::ess(draws, {.method = "median"}); }),
            "ess: method must be 'bulk', 'mean' or 'tail', not 'median'");
}

}  // namespace mcmc_diagnostics_test
