// Least squares and curve_fit beside SciPy 1.17: losses, bounds, covariances, derivatives of fits, errors.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace least_squares_test {

using nax::sum;
using Real = nax::Array<double>;
using Float = nax::Array<float>;
namespace optimize = nax::optimize;
using support::expect_close;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Real& times() {
  static const Real t = 0.5 * nax::arange<double>(10);
  return t;
}
const Real& noisy() {
  static const Real y{2.1, 1.3, 0.9, 5.0, 0.35, 0.2, 0.15, -3.0, 0.06, 0.02};
  return y;
}
constexpr auto decay = [](const auto& b, const auto& t, const auto& y) {
  return b(0) * exp(-b(1) * t) + b(2) - y;
};

TEST(LeastSquares, LossesMeetSciPys) {
  struct Row {
    const char* loss;
    std::vector<double> x;
    double cost;
  };
  const std::vector<Row> rows{
      {"huber", {2.1417268274821, 0.79553743147764, -0.067762435425665}, 0.74301395393538},
      {"soft_l1", {2.151015084297, 0.78755017342791, -0.073919230158831}, 0.73294066123485},
      {"cauchy", {2.1025421540043, 0.87798218921778, -0.012785557382909}, 0.074218262051542},
      {"arctan", {2.1000733545319, 0.87986272236606, -0.011254204375378}, 0.017780895814886}};
  for (const Row& row : rows)
    for (const char* method : {"lm", "trf", "dogleg"}) {
      const auto fit = optimize::least_squares(decay, Real{1, 1, 0},
                                               {.method = method,
                                                .loss = row.loss,
                                                .f_scale = 0.1,
                                                .ftol = 0,
                                                .xtol = 1e-15,
                                                .gtol = 1e-13,
                                                .max_nfev = 5000,
                                                .args = std::tuple{times(), noisy()}});
      expect_close(std::string(row.loss) + " " + method, fit.x.to_vector(), row.x, 1e-6, 0.1);
      EXPECT_NEAR(fit.cost, row.cost, 1e-10) << row.loss << " " << method;
      EXPECT_GT(fit.status, 0);
    }
}

TEST(LeastSquares, StaysWithinActiveBounds) {
  for (const char* method : {"lm", "trf", "dogleg"}) {
    const auto fit = optimize::least_squares(decay, Real{1, 1, 0.7},
                                             {.method = method,
                                              .bounds = {{0, 0, 0.5}, {1.5, inf, 2}},
                                              .loss = "cauchy",
                                              .f_scale = 0.1,
                                              .ftol = 0,
                                              .xtol = 1e-15,
                                              .gtol = 1e-13,
                                              .max_nfev = 5000,
                                              .args = std::tuple{times(), noisy()}});
    expect_close(method, fit.x.to_vector(), {1.5, 1.33559258, 0.5}, 1e-6, 1);
    EXPECT_NEAR(fit.cost, 0.1449888874862441, 1e-8) << method;
    EXPECT_EQ(fit.active_mask.to_vector(), (std::vector<std::int32_t>{1, 0, -1})) << method;
  }
}

TEST(LeastSquares, TakesFloatTreesAndFewerResidualsThanParameters) {
  const auto fit = optimize::least_squares(
      [](const Float& b, const Real& t) { return Float(b(0) * t.astype<float>() - 3.f * t.astype<float>()); },
      Float{1}, {.args = times()});
  EXPECT_NEAR(fit.x(0).item(), 3, 1e-5);

  using Tree = std::map<std::string, Real>;
  const auto tree = optimize::least_squares(
      [](const Tree& p) {
        return std::pair{Real(p.at("a") - 1.), Real(p.at("b") * p.at("b") - 4.)};
      },
      Tree{{"a", Real{0, 0}}, {"b", Real(1.)}});
  expect_close("a", tree.x.at("a").to_vector(), {1, 1}, 1e-8, 1);
  EXPECT_NEAR(tree.x.at("b").item(), 2, 1e-8);

  for (const char* method : {"trf", "dogleg"}) {
    const auto short_of = optimize::least_squares(
        [](const Real& x) { return Real(x(0) + 2. * x(1) - 5. + 0. * x); }, Real{0, 0}, {.method = method});
    EXPECT_NEAR(short_of.cost, 0, 1e-15) << method;
    const auto wide =
        optimize::least_squares([](const Real& x) { return Real((x(0) + 2. * x(1) - 5.).reshape({1})); },
                                Real{0, 0}, {.method = method});
    EXPECT_NEAR(wide.cost, 0, 1e-15) << method;
    EXPECT_EQ(wide.jac.shape(), (nax::Shape{1, 2}));
  }
}

TEST(LeastSquares, SingularNormalEquationsEnd) {
  for (const char* method : {"lm", "trf", "dogleg"}) {
    const auto fit = optimize::least_squares([](const Real& x) { return Real((x(0) + x(1)) * times() - 1.); },
                                             Real{1, 2}, {.method = method});
    EXPECT_GT(fit.status, 0) << method;
    EXPECT_NEAR(fit.x(0).item() + fit.x(1).item(), 0.3157894736842105, 1e-6) << method;
    const auto flat = optimize::least_squares([](const Real& x) { return Real(0. * x + 1.); }, Real{1, 2},
                                              {.method = method});
    EXPECT_EQ(flat.status, 1) << method;
  }
}

TEST(LeastSquares, DerivativesOfFitsEqualDifferences) {
  const Real y{2.1, 1.3, 0.9, 0.6, 0.35, 0.2, 0.15, 0.1, 0.06, 0.02};
  for (const char* loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}) {
    const auto of = [&](const Real& data) {
      const auto fit = optimize::least_squares(decay, Real{2, 1, 0},
                                               {.loss = loss,
                                                .f_scale = 0.5,
                                                .ftol = 0,
                                                .xtol = 1e-15,
                                                .gtol = 1e-14,
                                                .args = std::tuple{times(), data}});
      return Real(sum(fit.x * Real{1, 2, 3}) + sum(square(fit.fun)));
    };
    const Real g = nax::grad(of)(y);
    for (int i : {0, 3, 9}) {
      const Real h = nax::zeros<double>({10}).at(i).set(1e-3);
      EXPECT_NEAR(g(i).item(), (of(y + h).item() - of(y - h).item()) / 2e-3, 2e-5) << loss << i;
    }
  }
  // A parameter at a bound stays there; what the residual captured has its share as well.
  const auto bounded = [&](const Real& data) {
    const auto fit =
        optimize::least_squares([&](const Real& b) { return Real(decay(b, times(), data)); }, Real{1, 1, 0.1},
                                {.bounds = {{0, 0, 0.05}, inf}, .ftol = 0, .xtol = 1e-15, .gtol = 1e-12});
    return Real(sum(fit.x * Real{1, 2, 3}));
  };
  const Real g = nax::grad(bounded)(y), h = nax::zeros<double>({10}).at(2).set(1e-4);
  EXPECT_NEAR(g(2).item(), (bounded(y + h).item() - bounded(y - h).item()) / 2e-4, 1e-5);
}

TEST(LeastSquares, SecondDerivativesOfFitsEqualDifferences) {
  const auto of = [&](const Real& p) {
    const auto fit =
        optimize::least_squares([](const Real& x, const Real& q) { return Real(x * x - q); }, Real{1, 1},
                                {.ftol = 0, .xtol = 1e-15, .gtol = 1e-15, .args = p});
    return Real(sum(fit.x));  // sqrt(p)
  };
  const Real h = nax::hessian(of)(Real{4, 9});
  expect_close("hessian", h.reshape({4}).to_vector(), {-1. / 32, 0, 0, -1. / 108}, 1e-6, 1);
  const Real forward = nax::jacfwd(of)(Real{4, 9});
  expect_close("jacfwd", forward.to_vector(), {1. / 4, 1. / 6}, 1e-8, 1);
}

TEST(Solver, RecordsOnceAndStartsWarm) {
  int calls = 0;
  const auto residual = [&](const Real& b, const Real& t, const Real& y) {
    ++calls;
    return Real(decay(b, t, y));
  };
  const Real y{2.1, 1.3, 0.9, 0.6, 0.35, 0.2, 0.15, 0.1, 0.06, 0.02}, start{2, 1, 0};
  const auto solve = optimize::solver(residual, start, std::tuple{times(), y});
  const auto first = solve(start, std::tuple{times(), y});
  const int recorded = calls;
  const auto other = solve(first.x, std::tuple{times(), Real(1.1 * y)});
  EXPECT_EQ(calls, recorded);
  for (const auto& [found, data] : {std::pair{first, y}, std::pair{other, Real(1.1 * y)}}) {
    const auto plain =
        optimize::least_squares(decay, start, {.method = "lm", .args = std::tuple{times(), data}});
    expect_close("x", found.x.to_vector(), plain.x.to_vector(), 1e-7, 1);
    EXPECT_TRUE(found.success);
  }
  const auto of = [&](const Real& data) { return Real(sum(solve(start, std::tuple{times(), data}).x)); };
  const Real g = nax::grad(of)(y), h = nax::zeros<double>({10}).at(3).set(1e-3);
  EXPECT_NEAR(g(3).item(), (of(y + h).item() - of(y - h).item()) / 2e-3, 2e-5);
  EXPECT_EQ(refusal([&] { solve(nan * start, std::tuple{times(), y}); }), "solver: x0 is not finite");
}

TEST(LeastSquares, RefusesBadInput) {
  const auto square_less = [](const Real& x) { return Real(x * x - 2.); };
  const auto text = [&](const optimize::LeastSquaresOptions& o) {
    return refusal([&] { optimize::least_squares(square_less, Real{1, 2}, o); });
  };
  EXPECT_EQ(text({.method = "qr"}), "least_squares: method must be 'lm', 'trf' or 'dogleg', not 'qr'");
  EXPECT_EQ(text({.loss = "l1"}),
            "least_squares: loss must be 'linear', 'huber', 'soft_l1', 'cauchy' or 'arctan', not 'l1'");
  EXPECT_EQ(text({.bounds = {{0, 3}, {2, 1}}}),
            "least_squares: bounds: each lower bound must be below its upper one: element 1 has 3 and 1");
  EXPECT_EQ(text({.bounds = {{0, 3}, 5}}),
            "least_squares: x0 must lie within bounds: element 1 is 2, its bounds 3 and 5");
  EXPECT_EQ(text({.bounds = {{0, 0, 0}, 5}}), "least_squares: bounds.lower has 3 elements, x0 2");
  EXPECT_EQ(text({.f_scale = 0}), "least_squares: f_scale must be positive: 0");
  EXPECT_EQ(text({.x_scale = -1}), "least_squares: x_scale must be positive: -1");
  EXPECT_EQ(text({.x_scale = "best"}), "least_squares: x_scale must be 'jac' or numbers, not 'best'");
  EXPECT_EQ(text({.ftol = nan}), "least_squares: ftol must not be negative: nan");
  EXPECT_EQ(text({.max_nfev = -1}), "least_squares: max_nfev must be positive: -1");
  EXPECT_EQ(refusal([] {
              optimize::least_squares([](const Real& x) { return Real(log(x)); }, Real{-1, 1, 2});
            }),
            "least_squares: residual is not finite at x0: 3 residuals of 3 parameters");
  EXPECT_EQ(refusal([] {
              optimize::least_squares([](const Real& x) { return Real(x(nax::slice(0, 1))); }, Real{1, 2},
                                      {.method = "lm"});
            }),
            "least_squares: method 'lm' needs as many residuals as parameters: 1 residuals, 2 parameters");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              int calls = 0;
              optimize::least_squares(
                  [&](const Real& x) { return ++calls > 2 ? Real(x(nax::slice(0, 1))) : Real(x * x - 3.); },
                  Real{1, 2});
            }),
            "least_squares: residual changed its size from 2 to 1 elements");
  EXPECT_EQ(refusal<nax::TypeError>([] {
              optimize::least_squares(decay, Real{1, 1, 1}, {.args = times()});
            }),
            "least_squares: args: the function takes 2 arguments behind the first, args has 1");
  // Residuals that are NaN further on shorten the step.
  const auto fit =
      optimize::least_squares([](const Real& x) { return Real(log(x) - 1.); }, Real{20}, {.method = "lm"});
  EXPECT_NEAR(fit.x(0).item(), 2.718281828459045, 1e-6);
  const auto ended = optimize::least_squares(square_less, Real{100, 200}, {.max_nfev = 2});
  EXPECT_EQ(ended.status, 0);
  EXPECT_FALSE(ended.success);
  EXPECT_EQ(ended.nfev, 2);
}

TEST(CurveFit, CovariancesMeetSciPys) {
  const Real x{0, 1, 2, 3, 4}, y{1.1, 1.9, 3.2, 3.9, 5.1}, sigma{.1, .2, .1, .3, .1};
  const auto model = [](const Real& t, const Real& b) { return Real(b(0) * exp(b(1) * t)); };
  const auto check = [](const auto& fit, const std::vector<double>& popt, const std::vector<double>& pcov) {
    expect_close("popt", fit.popt.to_vector(), popt, 1e-6, 1e-3);
    expect_close("pcov", fit.pcov.reshape({4}).to_vector(), pcov, 1e-4, 1e-4);
  };
  check(optimize::curve_fit(model, x, y, Real{1, .3}, {.sigma = sigma, .ftol = 0, .xtol = 1e-13}),
        {1.47548582, 0.31568956}, {0.0539271, -0.00987101, -0.00987101, 0.00204255});
  check(optimize::curve_fit(model, x, y, Real{1, .3},
                            {.sigma = sigma, .absolute_sigma = true, .ftol = 0, .xtol = 1e-13}),
        {1.47548582, 0.31568956}, {0.00475021, -0.00086949, -0.00086949, 0.00017992});
  const Real covariance = nax::diag(square(sigma)) + 0.002;
  check(optimize::curve_fit(model, x, y, Real{1, .3},
                            {.sigma = covariance, .absolute_sigma = true, .ftol = 0, .xtol = 1e-13}),
        {1.49000555, 0.31405023}, {0.00636689, -0.00105039, -0.00105039, 0.00019898});
  EXPECT_EQ(refusal([&] {
              optimize::curve_fit(model, x, y, Real{1, .3}, {.sigma = Real{1, 2}});
            }),
            "curve_fit: sigma must have shape (5,) or (5, 5), not (2,)");
  EXPECT_EQ(refusal([&] {
              optimize::curve_fit(model, x, y, Real{1, .3}, {.sigma = 0. * sigma});
            }),
            "curve_fit: sigma must be positive: 0");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              optimize::curve_fit(model, x, Real{1, 2, 3}, Real{1, .3});
            }),
            "curve_fit: model returns 5 elements, y has 3");
  EXPECT_EQ(refusal([&] {
              optimize::curve_fit(model, x, nan * y, Real{1, .3});
            }),
            "curve_fit: residual is not finite at x0: 5 residuals of 2 parameters");
  const auto flat = optimize::curve_fit([](const Real& t, const Real& b) { return Real((b(0) + b(1)) * t); },
                                        x, y, Real{1, 1});
  EXPECT_EQ(flat.pcov(0, 0).item(), inf);
}

}  // namespace least_squares_test
