// Roots, fixed points and assignments: values, derivatives by the implicit function theorem, errors.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace root_test {

using nax::sum;
using Real = nax::Array<double>;
using Float = nax::Array<float>;
namespace optimize = nax::optimize;
using support::expect_close;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ScalarRoots, OfNumbers) {
  const auto f = [](double x) { return x * x - 2; };
  EXPECT_NEAR(optimize::brentq(f, 0, 2), std::sqrt(2.), 1e-12);
  EXPECT_NEAR(optimize::bisect(f, 0, 2), std::sqrt(2.), 1e-11);
  EXPECT_NEAR(optimize::newton(f, 1), std::sqrt(2.), 1e-12);
  EXPECT_NEAR(optimize::brentq([](double x, double c) { return std::exp(x) - c; }, -1, 5, {.args = 7.5}),
              std::log(7.5), 1e-12);
  EXPECT_NEAR(optimize::brentq([](double x) { return std::pow(x, 19); }, -1, 3), 0,
              0.05);  // flat at the root
}

TEST(ScalarRoots, DerivativesEqualDifferences) {
  const auto f = [](const auto& x, const auto& p) { return cos(x) - p * x; };
  const auto check = [&](const auto& solve) {
    const Real at(1.3);
    const double difference = (solve(Real(1.30001)).item() - solve(Real(1.29999)).item()) / 2e-5;
    EXPECT_NEAR(nax::grad(solve)(at).item(), difference, 1e-7);
    const double second =
        (nax::grad(solve)(Real(1.30001)).item() - nax::grad(solve)(Real(1.29999)).item()) / 2e-5;
    EXPECT_NEAR(nax::hessian(solve)(at).item(), second, 1e-6);
  };
  check([&](const Real& p) { return optimize::brentq(f, 0, 2, {.args = p}); });
  check([&](const Real& p) { return optimize::bisect(f, 0, 2, {.xtol = 1e-14, .args = p}); });
  check([&](const Real& p) { return optimize::newton(f, 1, {.tol = 1e-13, .args = p}); });
}

TEST(ScalarRoots, RefuseBadInput) {
  const auto f = [](double x) { return x * x + 1; };
  EXPECT_EQ(refusal([&] { optimize::brentq(f, 0, 2); }),
            "brentq: f(a) and f(b) must have different signs: 1 and 5");
  EXPECT_EQ(refusal([&] { optimize::bisect(f, 0, 2); }),
            "bisect: f(a) and f(b) must have different signs: 1 and 5");
  EXPECT_EQ(refusal([&] { optimize::brentq(f, 0, inf); }), "brentq: a and b must be finite: 0 and inf");
  EXPECT_EQ(refusal([&] { optimize::brentq([](double) { return nan; }, 0, 1); }),
            "brentq: the function is NaN at 0");
  EXPECT_EQ(refusal([&] { optimize::brentq(f, 0, 1, {.xtol = 0}); }), "brentq: xtol must be positive: 0");
  EXPECT_EQ(refusal([&] { optimize::bisect([](double x) { return x - 0.3; }, 0, 1, {.max_steps = 3}); }),
            "bisect: not converged after max_steps = 3, at 0.25");
  EXPECT_EQ(refusal([&] { optimize::newton([](const Real& x) { return Real(x * x + 1.); }, 0); }),
            "newton: the derivative is 0 at 0, where the function is 1");
  EXPECT_TRUE(refusal([&] { optimize::newton(f, 0.3); }).starts_with("newton: "));
}

constexpr auto circles = [](const auto& x, const auto& p) {
  return nax::stack({Real(x(0) + x(1) * x(1) - p(0)), Real(x(0) * x(0) - x(1) - p(1))});
};

TEST(Root, MethodsAgree) {
  for (const char* method : {"hybr", "newton", "broyden"}) {
    const auto found =
        optimize::root(circles, Real{1, 1}, {.method = method, .tol = 1e-12, .args = Real{4, 2}});
    EXPECT_TRUE(found.success) << method << found.message;
    expect_close(method, found.x.to_vector(), {1.8608058531117, 1.4625984229648}, 1e-10, 1);
  }
  // MINPACK's documentation: Broyden's tridiagonal function of 9 elements.
  const auto tridiagonal = [](const Real& x) {
    const Real zero = nax::zeros<double>({1});
    return Real((3. - 2. * x) * x + 1. - nax::concatenate({zero, x(nax::slice(0, -1))}) -
                2. * nax::concatenate({x(nax::slice(1, nax::none)), zero}));
  };
  for (const char* method : {"hybr", "newton", "broyden"}) {
    const auto found = optimize::root(tridiagonal, nax::full<double>({9}, -1.), {.method = method});
    EXPECT_TRUE(found.success) << method;
    expect_close(method, found.x.to_vector(),
                 {-0.5706545, -0.6816283, -0.7017325, -0.7042129, -0.7013690, -0.6918656, -0.6657920,
                  -0.5960342, -0.4164121},
                 1e-6, 1);
  }
  const auto single = optimize::root([](const Float& x) { return Float(x * x * x - 8.f); }, Float{1, 3});
  expect_close("float", {single.x(0).item(), single.x(1).item()}, {2, 2}, 1e-5, 1);
}

TEST(Root, DerivativesEqualDifferences) {
  const auto of = [&](const Real& p) {
    return Real(sum(square(optimize::root(circles, Real{1, 1}, {.tol = 1e-13, .args = p}).x)));
  };
  const auto captured = [&](const Real& p) {
    return Real(sum(
        square(optimize::root([&](const Real& x) { return circles(x, p); }, Real{1, 1}, {.tol = 1e-13}).x)));
  };
  const Real p{4, 2}, g = nax::grad(of)(p), other = nax::grad(captured)(p), forward = nax::jacfwd(of)(p);
  for (int i : {0, 1}) {
    const Real h = nax::zeros<double>({2}).at(i).set(1e-5);
    const double difference = (of(p + h).item() - of(p - h).item()) / 2e-5;
    EXPECT_NEAR(g(i).item(), difference, 1e-7);
    EXPECT_NEAR(other(i).item(), difference, 1e-7);
    EXPECT_NEAR(forward(i).item(), difference, 1e-7);
    const Real second = (nax::grad(of)(p + h) - nax::grad(of)(p - h)) / 2e-5;
    expect_close("second", nax::hessian(of)(p)(i).to_vector(), second.to_vector(), 1e-5, 1);
  }
}

TEST(Root, EndsAndErrors) {
  for (const char* method : {"hybr", "newton", "broyden"}) {
    const auto none =
        optimize::root([](const Real& x) { return Real(x * x + 1.); }, Real{1.5}, {.method = method});
    EXPECT_FALSE(none.success) << method << none.x;
    EXPECT_LE(none.nit, 201);
    const auto singular = optimize::root(
        [](const Real& x) {
          return nax::stack({Real(x(0) + x(1) - 1.), Real(2. * x(0) + 2. * x(1) - 2.)});
        },
        Real{3, 4}, {.method = method});
    EXPECT_NEAR(singular.x(0).item() + singular.x(1).item(), 1, 1e-6) << method;
  }
  EXPECT_EQ(refusal([] {
              optimize::root([](const Real& x) { return Real(sum(x).reshape({1})); }, Real{1, 2});
            }),
            "root: the function must return as many elements as x0 has: 1, not 2");
  EXPECT_EQ(refusal([] {
              optimize::root([](const Real& x) { return Real(log(x)); }, Real{-1, 2});
            }),
            "root: the function is not finite at x0, 2 elements");
  EXPECT_EQ(refusal([] {
              optimize::root(circles, Real{1, 1}, {.method = "lm", .args = Real{4, 2}});
            }),
            "root: method must be 'hybr', 'newton' or 'broyden', not 'lm'");
  EXPECT_EQ(refusal<nax::TypeError>([] {
              optimize::root([](const Real& x, const Real& p) { return Real(x - p); }, Real{1},
                             {.args = std::string("p")});
            }),
            "root: args: argument 0 is of another type than the function's parameter");
}

TEST(FixedPoint, OfArraysWithDerivatives) {
  const auto f = [](const auto& x, const auto& c) { return sqrt(c / (x + 3.)); };
  const auto of = [&](const Real& c) {
    return Real(sum(optimize::fixed_point(f, Real{1.2, 1.3}, {.xtol = 1e-13, .args = c})));
  };
  const Real c{10, 12}, x = optimize::fixed_point(f, Real{1.2, 1.3}, {.args = c});
  expect_close("SciPy's example", x.to_vector(), {1.4920333, 1.61288786}, 1e-7, 1);
  const Real g = nax::grad(of)(c);
  EXPECT_NEAR(g(0).item(), (of(Real{10.0001, 12}).item() - of(Real{9.9999, 12}).item()) / 2e-4, 1e-7);
  const Real plain = optimize::fixed_point([](const Real& at) { return Real(cos(at)); }, Real(1.),
                                           {.max_steps = 200, .method = "iteration"});
  EXPECT_NEAR(plain.item(), 0.7390851332151607, 1e-7);
  EXPECT_EQ(refusal([] {
              optimize::fixed_point([](const Real& at) { return Real(2. * at + 1.); }, Real{1, 1},
                                    {.max_steps = 20, .method = "iteration"});
            }),
            "fixed_point: not converged after max_steps = 20");
  EXPECT_EQ(refusal([] {
              optimize::fixed_point([](const Real& at) { return at; }, Real{1}, {.method = "newton"});
            }),
            "fixed_point: method must be 'del2' or 'iteration', not 'newton'");
}

TEST(LinearSumAssignment, MeetsSciPys) {
  const nax::Array<int> cost{
      {10, 19, 3, 19, 6, 8}, {17, 8, 11, 1, 15, 11}, {7, 16, 6, 9, 3, 8}, {4, 5, 15, 6, 10, 20}};
  using Indices = std::vector<std::int64_t>;
  const auto check = [](const auto& got, const Indices& rows, const Indices& columns) {
    EXPECT_EQ(got.first.to_vector(), rows);
    EXPECT_EQ(got.second.to_vector(), columns);
  };
  check(optimize::linear_sum_assignment(cost), {0, 1, 2, 3}, {2, 3, 4, 0});
  check(optimize::linear_sum_assignment(cost.T()), {0, 2, 3, 4}, {3, 0, 1, 2});
  check(optimize::linear_sum_assignment(cost, {.maximize = true}), {0, 1, 2, 3}, {3, 0, 1, 5});
  check(optimize::linear_sum_assignment(Real{{inf, 1}, {2, inf}}), {0, 1}, {1, 0});
  check(optimize::linear_sum_assignment(nax::zeros<double>({0, 3})), {}, {});
  EXPECT_EQ(refusal([] {
              optimize::linear_sum_assignment(Real{{1, nan}, {2, 3}});
            }),
            "linear_sum_assignment: cost has an invalid element: nan");
  EXPECT_EQ(refusal([] {
              optimize::linear_sum_assignment(Real{{inf, 1}, {inf, 3}});
            }),
            "linear_sum_assignment: no assignment of the 2 rows and 2 columns has a finite cost");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              optimize::linear_sum_assignment(Real{1, 2});
            }),
            "linear_sum_assignment: cost must be a matrix, shape (2,)");
}

}  // namespace root_test
