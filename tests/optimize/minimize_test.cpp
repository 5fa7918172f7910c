// Minima within bounds, of trees, in float; derivatives of minima; line searches; errors.

#include <gtest/gtest.h>

#include <limits>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace minimize_test {

using nax::none, nax::slice, nax::sum;
using Real = nax::Array<double>;
using Float = nax::Array<float>;
namespace optimize = nax::optimize;
using support::expect_close;
constexpr double inf = std::numeric_limits<double>::infinity();

constexpr auto rosenbrock = [](const auto& x) {
  return sum(100. * square(x(slice(1, none)) - square(x(slice(0, -1)))) + square(1. - x(slice(0, -1))));
};

TEST(Minimize, MethodsReachRosenbrocksMinimum) {
  for (const char* method : {"bfgs", "l-bfgs-b", "newton-cg", "trust-exact", "nelder-mead"}) {
    const auto found = optimize::minimize(rosenbrock, Real{-1.2, 1, 0.5}, {.method = method, .tol = 1e-8});
    EXPECT_TRUE(found.success) << method << ": " << found.message;
    expect_close(method, found.x.to_vector(), {1, 1, 1}, 1e-6, 1);
    EXPECT_GT(found.nfev, 0);
  }
  const auto bfgs = optimize::minimize(rosenbrock, Real{-1.2, 1}, {.tol = 1e-10});
  // The inverse of the Hessian at (1, 1), {802, -400; -400, 200}.
  expect_close("hess_inv", bfgs.hess_inv.reshape({4}).to_vector(), {0.5, 1, 1, 2.005}, 0.05, 1);
  const Real start = nax::full<double>({100}, -1.);
  const auto large = optimize::minimize(rosenbrock, start, {.method = "l-bfgs-b", .tol = 1e-7});
  EXPECT_LT(large.fun.item(), 4.1);  // (there is a local minimum near x0 = -1, 3.99)
}

TEST(Minimize, BoundsHold) {
  for (const char* method : {"l-bfgs-b", "nelder-mead"}) {
    const auto found =
        optimize::minimize(rosenbrock, Real{-1.2, 1},
                           {.method = method, .bounds = {-2, {0.5, 2}}, .tol = 1e-9, .max_steps = 2000});
    expect_close(method, found.x.to_vector(), {0.5, 0.25}, 1e-5, 1);
  }
  // Many bounds, some met: the minimum of a separable function is its projection.
  const Real centre = nax::linspace<double>(-2., 2., 25);
  const auto found =
      optimize::minimize([&](const Real& x) { return Real(sum(nax::exp(x - centre) - (x - centre))); },
                         nax::zeros<double>({25}), {.method = "l-bfgs-b", .bounds = {-1, 0.75}, .tol = 1e-9});
  EXPECT_TRUE(found.success);
  expect_close("projection", found.x.to_vector(), nax::clip(centre, -1., 0.75).to_vector(), 1e-7, 1);
  const auto fixed = optimize::minimize(
      rosenbrock, Real{5, 5}, {.method = "l-bfgs-b", .bounds = {{0.5, -inf}, {0.5, inf}}, .tol = 1e-9});
  expect_close("fixed", fixed.x.to_vector(), {0.5, 0.25}, 1e-7, 1);
  EXPECT_TRUE(fixed.success) << fixed.message;
}

// Within bounds that the minimum meets, or touches, a tight tolerance is no failure.
TEST(Minimize, TightTolerancesWithinBoundsAreMet) {
  for (const double tol : {1e-8, 1e-9, 1e-12})
    for (int seed = 0; seed < 30; ++seed) {
      const double low = -2 + seed % 5 * 0.1, high = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 0.8 : 1;
      const Real x0 = nax::random::uniform<double>(nax::random::key(seed), {2 + seed % 5}, low, high);
      const auto found =
          optimize::minimize(rosenbrock, x0, {.method = "l-bfgs-b", .bounds = {low, high}, .tol = tol});
      EXPECT_EQ(found.status, 0) << seed << ", tol " << tol << ": " << found.message;
    }
}

TEST(Minimize, TakesTreesAndFloat) {
  struct Line {
    Float slope, shift;
  };
  const Float t{0, 1, 2, 3}, y{1, 3, 5, 7};
  for (const char* method : {"bfgs", "l-bfgs-b", "newton-cg", "trust-exact"}) {
    const auto found =
        optimize::minimize([&](const Line& p) { return Float(sum(square(p.slope * t + p.shift - y))); },
                           Line{Float(0.f), Float{0.f}}, {.method = method, .tol = 1e-3});
    EXPECT_NEAR(found.x.slope.item(), 2, 1e-3) << method << found.message;
    EXPECT_NEAR(found.x.shift(0).item(), 1, 1e-3) << method;
    EXPECT_EQ(found.x.shift.shape(), (nax::Shape{1}));
  }
}

TEST(Minimize, DerivativesOfMinimaEqualDifferences) {
  const auto f = [](const auto& x, const auto& p) { return sum(square(square(x) - p)) + 0.1 * sum(exp(x)); };
  for (const char* method : {"bfgs", "l-bfgs-b", "newton-cg", "trust-exact"}) {
    const auto of = [&](const Real& p) {
      const auto found = optimize::minimize(f, Real{1, 1.5}, {.method = method, .tol = 1e-11, .args = p});
      return Real(sum(found.x * Real{1, 2}) + found.fun);
    };
    const Real p{2, 3}, g = nax::grad(of)(p), forward = nax::jacfwd(of)(p);
    for (int i : {0, 1}) {
      const Real h = nax::zeros<double>({2}).at(i).set(1e-5);
      const double difference = (of(p + h).item() - of(p - h).item()) / 2e-5;
      EXPECT_NEAR(g(i).item(), difference, 1e-6) << method;
      EXPECT_NEAR(forward(i).item(), difference, 1e-6) << method;
    }
  }
  // A parameter at a bound stays there.
  const auto bounded = [&](const Real& p) {
    return Real(
        sum(optimize::minimize(f, Real{1, 1.5},
                               {.method = "l-bfgs-b", .bounds = {0, {0.5, 5}}, .tol = 1e-11, .args = p})
                .x));
  };
  const Real g = nax::grad(bounded)(Real{2, 3});
  EXPECT_EQ(g(0).item(), 0);
  EXPECT_NEAR(g(1).item(), (bounded(Real{2, 3.00001}).item() - bounded(Real{2, 2.99999}).item()) / 2e-5,
              1e-6);
}

TEST(Minimize, EndsAndErrors) {
  const auto text = [](const optimize::MinimizeOptions& o) {
    return refusal([&] { optimize::minimize(rosenbrock, Real{-1.2, 1}, o); });
  };
  EXPECT_EQ(
      text({.method = "cg"}),
      "minimize: method must be 'bfgs', 'l-bfgs-b', 'newton-cg', 'trust-exact' or 'nelder-mead', not 'cg'");
  EXPECT_EQ(text({.method = "bfgs", .bounds = {0, 1}}),
            "minimize: bounds need method 'l-bfgs-b' or 'nelder-mead'");
  EXPECT_EQ(text({.method = "l-bfgs-b", .bounds = {1, 0}}),
            "minimize: bounds: a lower bound must not be above its upper one: element 0 has 1 and 0");
  EXPECT_EQ(text({.tol = -1}), "minimize: tol must not be negative: -1");
  EXPECT_EQ(text({.max_steps = -1}), "minimize: max_steps must be positive: -1");
  EXPECT_EQ(refusal([] {
              optimize::minimize([](const Real& x) { return Real(sum(log(x))); }, Real{-1, 1});
            }),
            "minimize: the function is not finite at x0: nan");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              optimize::minimize([](const Real& x) { return Real(2. * x); }, Real{1, 1});
            }),
            "minimize: the function must return one number, not 2");
  const auto ended = optimize::minimize(rosenbrock, Real{-1.2, 1}, {.max_steps = 2});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.nit, 2);
  EXPECT_FALSE(ended.success);
  // Without a minimum every method ends.
  for (const char* method : {"bfgs", "l-bfgs-b", "newton-cg", "trust-exact", "nelder-mead"}) {
    const auto unbounded = optimize::minimize([](const Real& x) { return Real(sum(x)); }, Real{0, 0},
                                              {.method = method, .max_steps = 50});
    EXPECT_FALSE(unbounded.success) << method;
  }
}

TEST(LineSearch, MeetsWolfesConditions) {
  const Real x{-1.2, 1}, p{215.6, 88};  // downhill
  const auto found = optimize::line_search(rosenbrock, x, p);
  ASSERT_TRUE(found.success);
  const double value = rosenbrock(x).item();
  const Real g = nax::grad(rosenbrock)(x), after = nax::grad(rosenbrock)(x + found.alpha * p);
  const double slope = sum(g * p).item();
  EXPECT_LE(found.new_fval, value + 1e-4 * found.alpha * slope);
  EXPECT_LE(std::abs(sum(after * p).item()), 0.9 * std::abs(slope));
  EXPECT_NEAR(found.new_slope, sum(after * p).item(), 1e-9);
  EXPECT_TRUE(refusal([&] {
                optimize::line_search(rosenbrock, x, -p);
              }).starts_with("line_search: pk is no direction of descent: slope "));
  EXPECT_EQ(refusal([&] { optimize::line_search(rosenbrock, x, Real{1}); }),
            "line_search: pk has 1 elements, xk 2");
  EXPECT_EQ(refusal([&] { optimize::line_search(rosenbrock, x, p, {.c1 = 0.5, .c2 = 0.1}); }),
            "line_search: c1 and c2 must be 0 < c1 < c2 < 1: 0.5 and 0.1");
  EXPECT_FALSE(optimize::line_search([](const Real& at) { return Real(sum(at)); }, x, Real{-1, -1}).success);
}

}  // namespace minimize_test
