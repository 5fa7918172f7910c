// Least squares whose Jacobian is singular: steps and derivatives of least norm. Bounds that a step meets.

#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "support/expect_close.hpp"

namespace rank_deficient_test {

using nax::grad, nax::sum;
using Real = nax::Array<double>;
namespace optimize = nax::optimize;
using support::expect_close;

const Real times = nax::linspace<double>(0, 1, 8);

TEST(LeastSquaresOfSingularJacobians, StepsAreOfLeastNorm) {
  // Only p0 + 2 p1 is determined: the part of p that it does not see stays where it was.
  const auto residual = [](const Real& p) {
    return Real(exp((p(0) + 2. * p(1)) * times) - exp(1.9 * times));
  };
  for (const char* method : {"lm", "trf", "dogleg"}) {
    const auto fit = optimize::least_squares(residual, Real{0.9, 0.3}, {.method = method, .x_scale = 1});
    EXPECT_TRUE(fit.success) << method;
    EXPECT_NEAR(fit.x(0).item() + 2 * fit.x(1).item(), 1.9, 1e-6) << method;
    EXPECT_NEAR(2 * fit.x(0).item() - fit.x(1).item(), 1.5, 1e-6) << method << fit.x;
  }
  // One residual for three parameters, and an exactly dependent column beside an independent one.
  for (const char* method : {"trf", "dogleg"}) {
    const auto one = optimize::least_squares([](const Real& p) { return Real(sum(p).reshape({1}) - 6.); },
                                             Real{1, 2, 0}, {.method = method});
    expect_close(method, one.x.to_vector(), {2, 3, 1}, 1e-6, 1);
    const auto two = optimize::least_squares(
        [](const Real& p) { return Real((p(0) + p(1)) * times + p(2) - (3. * times + 1.)); }, Real{1, 0.5, 4},
        {.method = method});
    expect_close(method, two.x.to_vector(), {1.75, 1.25, 1}, 1e-6, 1);
  }
}

TEST(LeastSquaresOfSingularJacobians, SmallColumnsAreNoDependentOnes) {
  const auto fit = optimize::least_squares(
      [](const Real& p) { return Real(1e9 * p(0) * times + 1e-9 * p(1) - (2e9 * times + 3e-9)); }, Real{1, 1},
      {.method = "lm", .ftol = 1e-15, .xtol = 1e-15, .gtol = 0});
  EXPECT_NEAR(fit.x(0).item(), 2, 1e-9);
}

TEST(LeastSquaresOfSingularJacobians, DerivativesAreOfLeastNorm) {
  const auto at = [](const Real& c) {
    return optimize::least_squares(
               [=](const Real& p) { return Real((p(0) + p(1)) * times - square(c) * times); }, Real{1, 1})
        .x;
  };
  const Real c(1.5), jac = nax::jacrev(at)(c), forward = nax::jacfwd(at)(c);
  expect_close("reverse", jac.to_vector(), {1.5, 1.5}, 1e-6, 1);
  expect_close("forward", forward.to_vector(), {1.5, 1.5}, 1e-6, 1);
  const auto first = [&](const Real& x) { return grad([&](const Real& y) { return Real(sum(at(y))); })(x); };
  EXPECT_NEAR(grad(first)(c).item(), 2, 1e-5);
}

TEST(BoundedMinima, StepsThatMeetBoundsAreTaken) {
  const auto far = [](const Real& x) { return Real(sum(square(x - 100.))); };
  for (const char* method : {"", "l-bfgs-b"}) {
    const auto found = optimize::minimize(far, Real{0.5, 0.2}, {.method = method, .bounds = {0, 1}});
    EXPECT_TRUE(found.success) << found.message;
    expect_close(method, found.x.to_vector(), {1, 1}, 0, 1);
    const auto edge =
        optimize::minimize([](const Real& x) { return Real(sum(exp(x) - 2. * x)); }, Real{-3, 0.1},
                           {.method = method, .bounds = {{-4, -1}, {0.25, 0.5}}});
    EXPECT_TRUE(edge.success) << edge.message;
    expect_close(method, edge.x.to_vector(), {0.25, 0.5}, 1e-7, 1);
  }
  const auto linear = optimize::minimize(
      [](const Real& x) {
        return Real(sum(x * Real{1, -2, 3}));
      },
      Real{0.5, 0.5, 0.5}, {.bounds = {{0, 0, -1}, {1, 4, 1}}});
  EXPECT_TRUE(linear.success) << linear.message;
  expect_close("linear", linear.x.to_vector(), {0, 4, -1}, 0, 1);
}

TEST(BoundedMinima, KinksAreNoSuccess) {
  // The least value is not found at a kink whose gradient does not vanish.
  const auto found =
      optimize::minimize([](const Real& x) { return Real(nax::abs(x(0) - 0.3) + nax::abs(x(1))); },
                         Real{1, -0.7}, {.method = "l-bfgs-b"});
  if (found.success) {
    EXPECT_LT(found.fun.item(), 1e-8) << found.x;
  }
}

}  // namespace rank_deficient_test
