// Minima under constraints: multipliers, trees, arguments, derivatives, many variables, ends and errors.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace constrained_test {

using nax::none, nax::slice, nax::sum;
using Real = nax::Array<double>;
using Float = nax::Array<float>;
namespace optimize = nax::optimize;
using support::expect_close;
constexpr double inf = std::numeric_limits<double>::infinity();

const auto bowl = [](const auto& x) { return exp(x(0)) + square(x(1)) + x(0) * x(1) + square(x(2) - 1.); };
const auto valley = [](const auto& x) { return exp(x(0)) + sum(square(x - 2.)); };
const auto plane = [](const auto& x) { return sum(x) - 1.; };
const auto ball = [](const auto& x) { return 0.5 - square(x(0)) - square(x(2)); };

// Values by SciPy's SLSQP, tol 1e-14.
TEST(Minimize, MultipliersUnderConstraints) {
  const auto found =
      optimize::minimize(bowl, Real{0, 0, 0}, {.constraints = {{"eq", plane}, {"ineq", ball}}});
  ASSERT_TRUE(found.success) << found.message;
  EXPECT_NEAR(found.fun.item(), 1.0897454023915465, 1e-8);
  expect_close("x", found.x.to_vector(), {-0.21381793, 0.53981356, 0.67400437}, 1e-6, 1);
  expect_close("multipliers", found.multipliers.to_vector(), {-0.86580921, -1.12595741}, 1e-5, 1);
  EXPECT_LE(found.maxcv, 1e-8);
  // The gradients of the function and of the constraints cancel.
  const Real of_plane{1, 1, 1}, of_ball = Real(-2. * found.x * Real{1, 0, 1});
  const Real y = found.multipliers;
  expect_close("sum", Real(found.jac + y(0) * of_plane + y(1) * of_ball).to_vector(), {0, 0, 0}, 1e-6, 1);
  // One inequality that does not matter, and none.
  const auto free = optimize::minimize(
      valley, Real{0, 0, 0}, {.constraints = {{"ineq", [](const auto& x) { return x(slice(0, 2)) + 10.; }}}});
  const auto plain = optimize::minimize(valley, Real{0, 0, 0}, {.tol = 1e-9});
  expect_close("free", free.x.to_vector(), plain.x.to_vector(), 1e-6, 1);
  expect_close("free", free.multipliers.to_vector(), {0, 0}, 1e-6, 1);
}

struct Pair {
  Real a, b;
};
TEST(Minimize, TreesFloatsAndArgumentsUnderConstraints) {
  const auto f = [](const Pair& p, const Real& w) { return Real(sum(square(p.a - w)) + square(p.b)); };
  const auto found = optimize::minimize(
      f, Pair{Real{0, 0}, Real(0.)},
      {.constraints = {{"eq", [](const Pair& p, const Real& w) { return Real(sum(p.a) + p.b - w(0)); }},
                       {"ineq", [](const Pair& p) { return Real(0.5 - p.b); }}},
       .args = Real{1, 2}});
  ASSERT_TRUE(found.success);
  // The residual w0 - (w0 + w1) = -2 is shared by three.
  expect_close("a", found.x.a.to_vector(), {1 - 2. / 3, 2 - 2. / 3}, 1e-7, 1);
  EXPECT_NEAR(found.x.b.item(), -2. / 3, 1e-7);
  const auto narrow =
      optimize::minimize([](const auto& x) { return sum(square(x)); }, Float{3, 1},
                         {.constraints = {{"eq", [](const auto& x) { return sum(x) - 1.; }}}});
  EXPECT_TRUE(narrow.success) << narrow.message;
  EXPECT_NEAR(narrow.x(0).item(), 0.5, 1e-5);
  const auto own =
      optimize::minimize([](const Float& x) { return Float(sum(square(x))); }, Float{3, 1},
                         {.constraints = {{"eq", [](const Float& x) { return Float(sum(x) - 1.f); }}}});
  EXPECT_NEAR(own.x(0).item(), 0.5, 1e-5);
}

TEST(Minimize, DerivativesUnderConstraintsEqualDifferences) {
  const auto of = [](const Real& p) {
    const auto found = optimize::minimize(
        [](const auto& x, const auto& q) {
          return exp(x(0) * q(0)) + square(x(1)) + x(0) * x(1) + square(x(2) - 1.) + square(x(3) - 5.);
        },
        Real{0, 0, 0, 0},
        {.bounds = {-inf, {inf, inf, inf, 2}},
         .constraints = {{"eq", [](const auto& x, const auto& q) { return x(0) + x(1) + x(2) - q(1); }},
                         {"ineq",
                          [](const auto& x, const auto& q) { return q(2) - square(x(0)) - square(x(2)); }}},
         .tol = 1e-11,
         .args = p});
    return Real(sum(found.x * Real{1, 2, 3, 4}) + found.fun);
  };
  const Real p{1, 1, 0.5}, g = nax::grad(of)(p), forward = nax::jacfwd(of)(p);
  std::vector<double> differences;
  for (int i = 0; i < 3; ++i) {
    const Real h = nax::zeros<double>({3}).at(i).set(1e-5);
    differences.push_back((of(Real(p + h)).item() - of(Real(p - h)).item()) / 2e-5);
  }
  expect_close("reverse", g.to_vector(), differences, 1e-5, 1);
  expect_close("forward", forward.to_vector(), differences, 1e-5, 1);
}

const auto above = [](double least) {
  return optimize::Constraint{"ineq", [least](const Real& x) { return Real(x - least); }};
};

TEST(Minimize, EndsWhereFunctionsAreSmall) {
  // Steep at x0, flat at the minimum.
  for (const double x0 : {1., 14., 20., 30.}) {
    const auto steep = optimize::minimize([](const Real& x) { return Real(sum(exp(x) - x)); }, Real{x0},
                                          {.constraints = {above(-1)}});
    EXPECT_TRUE(steep.success) << steep.message;
    EXPECT_NEAR(steep.x(0).item(), 0, 1e-6) << x0;
    // At most log(2), and equal to it.
    for (const char* type : {"ineq", "eq"}) {
      const auto bent =
          optimize::minimize([](const Real& x) { return Real(sum(square(x - 1.))); }, Real{x0},
                             {.constraints = {{type, [](const Real& x) { return Real(2. - exp(x)); }}}});
      EXPECT_TRUE(bent.success) << bent.message << " from " << x0;
      EXPECT_NEAR(bent.x(0).item(), std::log(2.), 1e-6) << x0;
    }
  }
  // Large everywhere: derivatives end at what rounding leaves.
  const auto large =
      optimize::minimize([](const Real& x) { return Real(sum(1e10 * (square(square(x - 1.)) + square(x)))); },
                         Real{20}, {.constraints = {above(-1)}});
  EXPECT_TRUE(large.success) << large.message;
  EXPECT_NEAR(large.x(0).item(), 0.410245487698, 1e-9);
  EXPECT_LE(large.nit, 30);
}

TEST(Minimize, FlatEqualitiesCount) {
  for (const double slope : {1e-2, 1e-4, 1e-6}) {
    const auto found =
        optimize::minimize([](const Real& x) { return Real(sum(square(x))); }, Real{0, 0},
                           {.constraints = {{"eq", [&](const Real& x) { return Real(slope * (x(0) - 1.)); }},
                                            {"eq", [](const Real& x) { return Real(x(0) + x(1) - 3.); }}}});
    EXPECT_TRUE(found.success) << found.message;
    EXPECT_NEAR(found.x(0).item(), 1, 1e-5) << slope;
    EXPECT_NEAR(found.x(1).item(), 2, 1e-5) << slope;
    EXPECT_LE(found.nit, 10);
  }
}

TEST(Minimize, EndsWhereDerivativesAreNotFinite) {
  // (x - 3)^2 over x + 1 >= 0, whose gradient is NaN above 1.
  using optimize::detail::SparseRows, optimize::detail::Vector;
  const auto values = [](const Vector& x, Vector& c) {
    c.assign(1, x[0] + 1);
    return (x[0] - 3) * (x[0] - 3);
  };
  const auto derivatives = [](const Vector& x, const Vector& y, Vector& gradient, SparseRows& hessian,
                              SparseRows& jacobian) {
    gradient = {x[0] > 1 ? NAN : 2 * (x[0] - 3) + y[0]};
    hessian.starts = jacobian.starts = {0, 1};
    hessian.columns = jacobian.columns = {0};
    hessian.values = {2}, jacobian.values = {1};
  };
  optimize::detail::ConstrainedProblem problem;
  problem.equality = {0};
  problem.lower = {-inf}, problem.upper = {inf};
  problem.max_steps = 100;
  EXPECT_EQ(optimize::detail::minimize_constrained({values, derivatives}, problem, {0}).status, 3);
}

TEST(Minimize, TestsTheLastStep) {
  const auto run = [](std::int64_t steps) {
    return optimize::minimize([](const Real& x) { return Real(sum(exp(x) - x)); }, Real{1},
                              {.constraints = {above(-1)}, .max_steps = steps});
  };
  const std::int64_t steps = run(100).nit;
  EXPECT_EQ(run(steps).status, 0);
  EXPECT_EQ(run(steps - 1).status, 1);
}

TEST(Minimize, SecondDerivativesThatBeginOnTheWay) {
  // Elements of second derivatives are 0 near x0 = 0.
  const std::int64_t n = 60;
  const auto found = optimize::minimize(
      [](const Real& x) {
        const Real far = nax::maximum(x - 1., 0.),
                   pairs = nax::maximum(x(slice(1, none)) + x(slice(0, -1)) - 3., 0.);
        return Real(sum(square(far)) + sum(square(pairs)) - sum(x));
      },
      nax::zeros<double>({n}),
      {.constraints = {{"ineq", [](const Real& x) { return Real(100. - x(slice(0, 2))); }}}});
  EXPECT_TRUE(found.success) << found.message;
  expect_close("gradient", found.jac.to_vector(), std::vector<double>(n, 0.), 1e-5, 1);
}

// Monotone regression of many numbers, whose solution is means of blocks (pool adjacent violators).
TEST(Minimize, ManyVariablesBySparseMatrices) {
  const int n = 200;
  const Real y = Real(nax::linspace<double>(0, 3, n) + nax::sin(nax::arange<double>(0, n) * 1.7));
  const auto solve = [&](const Real& data) {
    return optimize::minimize(
        [](const Real& x, const Real& d) { return Real(sum(square(x - d))); }, nax::zeros<double>({n}),
        {.constraints = {{"ineq", [](const Real& x) { return Real(x(slice(1, none)) - x(slice(0, -1))); }}},
         .args = data});
  };
  const auto found = solve(y);
  ASSERT_TRUE(found.success) << found.message;
  std::vector<std::pair<double, int>> blocks;
  for (const double v : y.to_vector()) {
    blocks.emplace_back(v, 1);
    while (blocks.size() > 1 && blocks[blocks.size() - 2].first > blocks.back().first) {
      const auto [mean, count] = blocks.back();
      blocks.pop_back();
      auto& into = blocks.back();
      into.first = (into.first * into.second + mean * count) / (into.second + count);
      into.second += count;
    }
  }
  std::vector<double> wanted;
  for (const auto& [mean, count] : blocks) wanted.insert(wanted.end(), static_cast<std::size_t>(count), mean);
  expect_close("means", found.x.to_vector(), wanted, 1e-4, 1);
  // The sum of x is that of y.
  const Real g = nax::grad([&](const Real& data) { return Real(sum(solve(data).x)); })(y);
  expect_close("derivatives", g.to_vector(), std::vector<double>(n, 1.), 1e-4, 1);
}

TEST(Minimize, EndsAndErrorsUnderConstraints) {
  const auto text = [](const optimize::MinimizeOptions& o, const Real& x0 = Real{0, 0, 0}) {
    return refusal([&] { optimize::minimize(bowl, x0, o); });
  };
  EXPECT_EQ(text({.constraints = {{"equal", plane}}}),
            "minimize: constraints: a type must be 'eq' or 'ineq', not 'equal'");
  EXPECT_EQ(text({.method = "bfgs", .constraints = {{"eq", plane}}}),
            "minimize: constraints need method 'interior-point', not 'bfgs'");
  EXPECT_EQ(text({.method = "interior-point"}),
            "minimize: method 'interior-point' needs constraints; for bounds alone there is 'l-bfgs-b'");
  EXPECT_EQ(text({.bounds = {1, 0}, .constraints = {{"eq", plane}}}),
            "minimize: bounds: a lower bound must not be above its upper one: element 0 has 1 and 0");
  EXPECT_EQ(text({.bounds = {NAN, 1}, .constraints = {{"eq", plane}}}),
            "minimize: bounds: a lower bound must not be above its upper one: element 0 has nan and 1");
  EXPECT_EQ(text({.bounds = {0, NAN}, .constraints = {{"eq", plane}}}),
            "minimize: bounds: a lower bound must not be above its upper one: element 0 has 0 and nan");
  EXPECT_EQ(text({.bounds = {inf, inf}, .constraints = {{"eq", plane}}}),
            "minimize: bounds: no number lies between those of element 0: inf and inf");
  EXPECT_EQ(text({.method = "l-bfgs-b", .bounds = {inf, inf}}),
            "minimize: bounds: no number lies between those of element 0: inf and inf");
  EXPECT_EQ(text({.bounds = {-inf, -inf}, .constraints = {{"eq", plane}}}),
            "minimize: bounds: no number lies between those of element 0: -inf and -inf");
  EXPECT_EQ(text({.constraints = {{"eq", [](const auto& x) { return log(x); }}}}, Real{-1, 0, 0}),
            "minimize: the function or the constraints are not finite at x0");
  EXPECT_EQ(
      refusal<nax::TypeError>([&] {
        optimize::minimize(bowl, Real{0, 0, 0}, {.constraints = {{"eq", [](const Pair& p) { return p.a; }}}});
      }),
      "minimize: constraints: a function takes another type than that of x0");
  EXPECT_THROW(nax::vmap([](const Real& x0) {
                 return optimize::minimize(valley, x0, {.constraints = {{"eq", plane}}}).x;
               })(nax::zeros<double>({2, 3})),
               nax::ValueError);
  const auto from = [](const Real& x0) {
    return optimize::minimize(valley, x0, {.constraints = {{"eq", plane}}}).x;
  };
  expect_close("jit", nax::jit(from)(Real{1, 2, 3}).to_vector(), from(Real{1, 2, 3}).to_vector(), 1e-15, 1);
  // No point has x0^2 = -1, or two different sums.
  const auto none = optimize::minimize(
      bowl, Real{1, 1, 1}, {.constraints = {{"eq", [](const auto& x) { return square(x(0)) + 1.; }}}});
  EXPECT_FALSE(none.success);
  EXPECT_EQ(none.status, 4) << none.message;
  EXPECT_GE(none.maxcv, 0.9);
  const auto two =
      optimize::minimize(valley, Real{1, 1, 1},
                         {.constraints = {{"eq", plane}, {"eq", [](const auto& x) { return sum(x) - 2.; }}}});
  EXPECT_FALSE(two.success);
  const auto twice =
      optimize::minimize(valley, Real{1, 1, 1}, {.constraints = {{"eq", plane}, {"eq", plane}}});
  EXPECT_TRUE(twice.success) << twice.message;
  const auto ended =
      optimize::minimize(bowl, Real{0, 0, 0}, {.constraints = {{"ineq", ball}}, .max_steps = 2});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.nit, 2);
  // Without a minimum.
  const auto down = optimize::minimize(bowl, Real{0, 0, 0}, {.constraints = {{"eq", plane}}});
  EXPECT_EQ(down.status, 5) << down.message;
  EXPECT_FALSE(down.success);
}

// The check of a pattern allows for functions that compute in float.
TEST(Minimize, ManyVariablesInFloat) {
  const auto found =
      optimize::minimize([](const Float& x) { return Float(sum(square(x - 2.f))); }, nax::zeros<float>({60}),
                         {.constraints = {{"eq", [](const Float& x) { return Float(sum(x) - 1.f); }}}});
  EXPECT_EQ(found.status, 0);
  EXPECT_NEAR(found.x(7).item(), 1. / 60, 1e-5);
}

// Bounds are not widened at the equalities' expense, and maxcv is that of x.
TEST(Minimize, BoundsHoldTogetherWithEqualities) {
  const auto found =
      optimize::minimize([](const Real& x) { return Real(sum(x)); }, Real{2e6, 1e6},
                         {.bounds = {.lower = Real{1e6, -inf}},
                          .constraints = {{"eq", [](const Real& x) { return Real(x(0) - 1e6 - x(1)); }}}});
  EXPECT_EQ(found.status, 0);
  EXPECT_NEAR(found.x(1).item(), 0, 1e-4);
  const double apart = found.x(0).item() - 1e6 - found.x(1).item();
  EXPECT_LT(std::abs(apart), 1e-6);
  EXPECT_NEAR(found.maxcv, std::abs(apart), 1e-12);
}

}  // namespace constrained_test
