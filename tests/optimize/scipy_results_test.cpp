// Every field of results beside SciPy's (goldens/make_optimize.py).

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "support/expect_close.hpp"
#include "support/golden.hpp"

namespace scipy_results_test {

using Real = nax::Array<double>;
namespace optimize = nax::optimize;
namespace integrate = nax::integrate;
constexpr double inf = std::numeric_limits<double>::infinity();

const std::vector<double>& wanted(const std::string& name) { return golden::get("optimize", name).values; }

void meets(const std::string& name, const Real& got, double relative, double absolute) {
  const golden::Golden& want = golden::get("optimize", name);
  EXPECT_EQ(got.shape(), nax::Shape(want.shape)) << name;
  const std::vector<double> values = got.reshape({got.size()}).to_vector();
  ASSERT_EQ(values.size(), want.values.size()) << name;
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], want.values[i], relative * std::abs(want.values[i]) + absolute)
        << name << " " << i;
}

const Real times = 0.5 * nax::arange<double>(10), y{2.1, 1.3, 0.9, 1.1, 0.35, 0.2, 0.15, -0.1, 0.06, 0.02};
constexpr auto decay = [](const Real& t, const Real& p) { return Real(p(0) * exp(-p(1) * t) + p(2)); };
const char* const losses[] = {"linear", "huber", "soft_l1", "cauchy", "arctan"};

TEST(ResultsBesideSciPys, LeastSquares) {
  for (const std::string loss : losses)
    for (const std::string name : {"free", "bounded"})
      for (const char* method : {"lm", "trf", "dogleg"}) {
        optimize::Bounds bounds{};
        if (name == "bounded") bounds = {{0, 0, 0.1}, {2, 3, 1}};
        const auto fit =
            optimize::least_squares([](const Real& p) { return Real(decay(times, p) - y); }, Real{1, 1, 0.5},
                                    {.method = method,
                                     .bounds = bounds,
                                     .loss = loss,
                                     .f_scale = 0.1,
                                     .ftol = 0,
                                     .xtol = 1e-15,
                                     .gtol = 1e-13,
                                     .max_nfev = 5000});
        const std::string at = "least_squares." + loss + "." + name;
        SCOPED_TRACE(at + " " + method);
        // (trf stays a little within the bounds.)
        const double slack = name == "bounded" ? 1e-6 : 3e-7;
        meets(at + "/x", fit.x, slack, slack);
        meets(at + "/fun", fit.fun, 0, slack);
        meets(at + "/jac", fit.jac, 0, 5 * slack);
        meets(at + "/grad", fit.grad, 0, 5 * slack);
        meets(at + "/cost", Real(fit.cost), 1e-6, 0);
        EXPECT_LT(fit.optimality, 1e-6);
        if (name == "free" || std::string(method) == "dogleg")
          meets(at + "/active_mask", fit.active_mask.astype<double>(), 0, 0);
      }
}

TEST(ResultsBesideSciPys, CurveFit) {
  const Real spread = 0.1 + 0.05 * nax::arange<double>(10);
  const Real covariance = nax::diag(Real(square(spread))) + 0.001;
  for (const std::string loss : losses)
    for (const auto& [name, sigma, absolute] :
         {std::tuple{"none", Real(), false}, std::tuple{"relative", spread, false},
          std::tuple{"absolute", spread, true}, std::tuple{"covariance", covariance, true}}) {
      const auto fit = optimize::curve_fit(decay, times, y, Real{2, 1, 0},
                                           {.sigma = sigma,
                                            .absolute_sigma = absolute,
                                            .loss = loss,
                                            .f_scale = sigma.size() == 0 ? 0.1 : 1,
                                            .ftol = 1e-15,
                                            .xtol = 1e-15,
                                            .gtol = 1e-14});
      const std::string at = "curve_fit." + loss + "." + name;
      meets(at + "/popt", fit.popt, 1e-5, 1e-6);
      meets(at + "/pcov", fit.pcov, 1e-4, 1e-8);
    }
}

Real rosenbrock(const Real& x) {
  const Real head = x(nax::slice(0, -1)), tail = x(nax::slice(1, nax::none));
  return sum(100. * square(tail - head * head) + square(1. - head));
}

TEST(ResultsBesideSciPys, Minimize) {
  const auto check = [](const std::string& at, const auto& found) {
    EXPECT_TRUE(found.success) << at << " " << found.message;
    meets(at + "/x", found.x, 1e-6, 1e-6);
    meets(at + "/fun", found.fun, 1e-7, 1e-10);
    meets(at + "/jac", found.jac, 1e-4, 1e-4);
    EXPECT_LT(found.maxcv, 1e-8) << at;
  };
  const auto free = optimize::minimize(rosenbrock, Real{-1.2, 1, 0.5}, {.tol = 1e-9});
  check("minimize.rosenbrock", free);
  // (The last estimate of bfgs is near the inverse of the Hessian.)
  const Real product = matmul(free.hess_inv, nax::hessian(rosenbrock)(free.x));
  EXPECT_LT(Real(nax::max(nax::abs(product - nax::eye<double>(3)))).item(), 0.3) << product;
  check("minimize.rosenbrock.bounded",
        optimize::minimize(rosenbrock, Real{0.2, 0.4, 0.1},
                           {.bounds = {{0, -1, -1}, {0.5, 1, 1}}, .tol = 1e-7}));
  const auto constrained =
      optimize::minimize(rosenbrock, Real{0.5, 0.4, 0.1},
                         {.constraints = {{"eq", [](const Real& x) { return Real(x(0) + x(1) - 1.); }},
                                          {"ineq", [](const Real& x) { return Real(0.25 - x(2) - x(1)); }}},
                          .tol = 1e-9});
  check("minimize.rosenbrock.constrained", constrained);
  meets("minimize.rosenbrock.constrained/multipliers", constrained.multipliers, 1e-5, 1e-5);
}

TEST(ResultsBesideSciPys, Root) {
  const auto check = [](const std::string& name, const auto& f, const Real& x0) {
    for (const char* method : {"hybr", "newton", "broyden"}) {
      const auto found = optimize::root(f, x0, {.method = method});
      const std::string at = "root." + name;
      EXPECT_EQ(found.success, wanted(at + "/success")[0] == 1) << name << " " << method << " " << found.x;
      EXPECT_EQ(found.success, found.message == "The solution converged.") << name << " " << method;
      if (!found.success) continue;
      meets(at + "/x", found.x, 1e-6, 0);
      meets(at + "/fun", found.fun, 0, 1e-6);
    }
  };
  check(
      "circles",
      [](const Real& x) {
        return nax::stack({Real(x(0) + x(1) * x(1) - 4.), Real(x(0) * x(0) - x(1) - 2.)});
      },
      Real{1, 1});
  const auto none = [](const Real& x) { return Real(x * x + 1.); };
  check("none", none, Real{1});
  check("none.away", none, Real{1.5});
  check(
      "constant", [](const Real& x) { return Real(0. * x + 1.); }, Real{0.5});
  check(
      "contradiction",
      [](const Real& x) {
        return nax::stack({Real(x(0) + x(1) - 1.), Real(x(0) + x(1) - 2.)});
      },
      Real{0.3, 0.2});
  check(
      "exponential", [](const Real& x) { return Real(exp(x) + x * x); }, Real{1});
}

TEST(ResultsBesideSciPys, Integrals) {
  const auto field = [](double, const Real& s) -> Real {
    return nax::stack({Real(1.5 * s(0) - s(0) * s(1)), Real(0.5 * s(0) * s(1) - 1.2 * s(1))});
  };
  for (const char* method : {"tsit5", "dopri5", "rodas4", "rodas5", "kvaerno5"}) {
    SCOPED_TRACE(method);
    const auto s =
        integrate::solve_ivp(field, {0, 3}, Real{2, 1},
                             {.method = method,
                              .rtol = 1e-9,
                              .atol = 1e-9,
                              .t_eval = {0, 0.5, 1.25, 3},
                              .dense_output = true,
                              .events = [](double, const Real& at) { return Real(at(0) - at(1)); }});
    EXPECT_EQ(s.status, wanted("solve_ivp/status")[0]);
    meets("solve_ivp/t", s.t, 0, 0);
    meets("solve_ivp/y", s.y, 1e-6, 0);
    meets("solve_ivp/t_events", s.t_events[0], 1e-6, 0);
    meets("solve_ivp/y_events", s.y_events[0], 1e-6, 0);
    meets("solve_ivp/sol", s.sol(0.8), 1e-6, 0);
  }
  meets(
      "odeint/y",
      integrate::odeint([&](const Real& s, double t) { return field(t, s); }, Real{2, 1}, {0, 0.5, 1.25, 3}),
      1e-6, 0);
  meets("quad.sine/value", integrate::quad([](const Real& x) { return Real(sin(x)); }, 0.5, 2).value, 1e-12,
        0);
  meets("quad.normal/value", integrate::quad([](const Real& x) { return Real(exp(-x * x)); }, -inf, 1).value,
        1e-10, 0);
}

TEST(ResultsBesideSciPys, LineSearchAndAssignment) {
  const auto step =
      optimize::line_search([](const Real& x) { return Real(sum(square(x - 1.))); }, Real{3, 0}, Real{-2, 1});
  EXPECT_TRUE(step.success);
  meets("line_search/alpha", Real(step.alpha), 0, 1e-12);
  meets("line_search/new_fval", Real(step.new_fval), 0, 1e-12);
  meets("line_search/new_slope", Real(step.new_slope), 0, 1e-12);
  const Real cost = nax::array(wanted("linear_sum_assignment/in0")).reshape({4, 5});
  const auto [rows, columns] = optimize::linear_sum_assignment(cost);
  meets("linear_sum_assignment/rows", rows.template astype<double>(), 0, 0);
  meets("linear_sum_assignment/columns", columns.template astype<double>(), 0, 0);
}

}  // namespace scipy_results_test
