#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"

// Exponentials, logarithms, roots, trigonometric and hyperbolic functions.
using namespace elementwise;

namespace analytic_test {

TEST(Analytic, Values) {
#define BOTH(name, function) \
  expect_golden(name, NAX_ROW(float, float, function)), expect_golden(name, NAX_ROW(double, double, function))
  BOTH("exp", nax::exp), BOTH("exp2", nax::exp2), BOTH("expm1", nax::expm1), BOTH("log", nax::log);
  BOTH("log2", nax::log2), BOTH("log10", nax::log10), BOTH("log1p", nax::log1p), BOTH("sqrt", nax::sqrt);
  BOTH("cbrt", nax::cbrt), BOTH("rsqrt", nax::rsqrt), BOTH("sin", nax::sin), BOTH("cos", nax::cos);
  BOTH("tan", nax::tan), BOTH("arcsin", nax::arcsin), BOTH("arccos", nax::arccos),
      BOTH("arctan", nax::arctan);
  BOTH("sinh", nax::sinh), BOTH("cosh", nax::cosh), BOTH("tanh", nax::tanh), BOTH("arcsinh", nax::arcsinh);
  BOTH("arccosh", nax::arccosh), BOTH("arctanh", nax::arctanh);
}

TEST(Analytic, Derivatives) {
#define ROW(function, low, high) \
  expect_derivatives(#function, NAX_ROW(double, double, nax::function), low, high)
  ROW(exp, -2, 2), ROW(exp2, -2, 2), ROW(expm1, -2, 2), ROW(log, 0.2, 3), ROW(log2, 0.2, 3),
      ROW(log10, 0.2, 3);
  ROW(log1p, -0.8, 2), ROW(sqrt, 0.2, 3), ROW(cbrt, 0.2, 3), ROW(rsqrt, 0.2, 3), ROW(sin, -3, 3),
      ROW(cos, -3, 3);
  ROW(tan, -1.2, 1.2), ROW(arcsin, -0.8, 0.8), ROW(arccos, -0.8, 0.8), ROW(arctan, -3, 3), ROW(sinh, -2, 2);
  ROW(cosh, -2, 2), ROW(tanh, -2, 2), ROW(arcsinh, -2, 2), ROW(arccosh, 1.2, 3), ROW(arctanh, -0.8, 0.8);
  ROW(sinc, -2, 2), ROW(deg2rad, -2, 2), ROW(rad2deg, -2, 2);
  expect_second("sinc", NAX_ROW(double, double, nax::sinc), 0, -3.28986813369645287);
}

TEST(Analytic, ZeroCotangentsPassSingularities) {
  expect_derivative(
      "sqrt", [](const Real& x) { return Real(0 * nax::sqrt(x)); }, 0, 0, false);
  expect_derivative(
      "log", [](const Real& x) { return Real(0 * nax::log(x)); }, 0, 0, false);
  expect_derivative(
      "where sqrt", [](const Real& x) { return Real(nax::where(x > 0, nax::sqrt(x), 0)); }, -1, 0);
  expect_derivative("sqrt", NAX_ROW(double, double, nax::sqrt), 0, std::numeric_limits<double>::infinity());
}

TEST(Analytic, NumbersAlone) {
  EXPECT_FLOAT_EQ(nax::tanh(0.7).item(), std::tanh(0.7f));
  EXPECT_FLOAT_EQ((nax::exp(1) * 2 + 1).item(), 2 * std::exp(1.f) + 1);
  EXPECT_FLOAT_EQ(nax::arctan2(1, 2.0).item(), std::atan2(1.f, 2.f));
}

TEST(Analytic, IntegersBecomeFloat) {
  expect_golden("exp", NAX_ROW(std::int32_t, float, nax::exp));
  expect_golden("sqrt", NAX_ROW(std::int32_t, float, nax::sqrt));
  expect_golden("exp", NAX_ROW(nax::half, nax::half, nax::exp), 1);
}

}  // namespace analytic_test

#undef BOTH
#undef ROW
