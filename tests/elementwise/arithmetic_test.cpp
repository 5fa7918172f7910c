#include "nax/numpy/elementwise/arithmetic.hpp"

#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"

// Arithmetic, powers, extrema, rounding and functions of two arguments.
using namespace elementwise;

namespace arithmetic_test {
using Int = Array<std::int32_t>;

TEST(Arithmetic, Values) {
#define BOTH(name, function) \
  expect_golden(name, NAX_ROW(float, float, function)), expect_golden(name, NAX_ROW(double, double, function))
#define BOTH2(name, function)                            \
  expect_golden(name, NAX_ROW2(float, float, function)), \
      expect_golden(name, NAX_ROW2(double, double, function))
  BOTH("negative", nax::negative), BOTH("abs", nax::abs), BOTH("sign", nax::sign),
      BOTH("square", nax::square);
  BOTH("reciprocal", nax::reciprocal), BOTH("floor", nax::floor), BOTH("ceil", nax::ceil);
  BOTH("round", nax::round), BOTH("trunc", nax::trunc);
  BOTH2("add", nax::add), BOTH2("subtract", nax::subtract), BOTH2("multiply", nax::multiply);
  BOTH2("divide", nax::divide), BOTH2("floor_divide", nax::floor_divide), BOTH2("mod", nax::mod);
  BOTH2("power", nax::power), BOTH2("maximum", nax::maximum), BOTH2("minimum", nax::minimum);
  BOTH2("arctan2", nax::arctan2), BOTH2("hypot", nax::hypot), BOTH2("logaddexp", nax::logaddexp);
}

TEST(Arithmetic, Derivatives) {
#define ROW(function, low, high) \
  expect_derivatives(#function, NAX_ROW(double, double, nax::function), low, high)
#define ROW2(function, a, b, c, d) \
  expect_derivatives(#function, NAX_ROW2(double, double, nax::function), a, b, c, d)
  ROW(negative, -2, 2), ROW(abs, -2, 2), ROW(fabs, -2, 2), ROW(square, -2, 2), ROW(reciprocal, 0.5, 2);
  ROW(floor, 0.1, 0.9), ROW(sign, -2, 2), ROW(nan_to_num, -2, 2);
  ROW2(add, -2, 2, -2, 2), ROW2(subtract, -2, 2, -2, 2), ROW2(multiply, -2, 2, -2, 2),
      ROW2(divide, -2, 2, 0.5, 2);
  ROW2(mod, -3, 2, 0.7, 0.9), ROW2(fmod, -3, 2, 0.7, 0.9), ROW2(power, 0.3, 2, -2, 2);
  ROW2(maximum, -2, 2, -1.5, 1), ROW2(minimum, -2, 2, -1.5, 1), ROW2(fmax, -2, 2, -1.5, 1);
  ROW2(fmin, -2, 2, -1.5, 1), ROW2(arctan2, -2, 2, 0.5, 2), ROW2(hypot, -2, 2, 0.5, 2);
  ROW2(logaddexp, -2, 2, -2, 2), ROW2(logaddexp2, -2, 2, -2, 2), ROW2(copysign, 0.5, 2, -2, 2);
  expect_derivatives(
      "clip", [](const Real& x) { return Real(nax::clip(x * x, 0.5, 2.5)); }, -2, 2);
  expect_derivatives(
      "ldexp", [](const Real& x) { return Real(nax::ldexp(x * x, 3)); }, -2, 2);
}

TEST(Arithmetic, Kinks) {
  expect_derivative(
      "maximum", [](const Real& x) { return Real(nax::maximum(x, 1.0)); }, 1, 0.5);
  expect_derivative(
      "minimum", [](const Real& x) { return Real(nax::minimum(x, 1.0)); }, 1, 0.5);
  expect_derivative(
      "clip low", [](const Real& x) { return Real(nax::clip(x, 0, 1)); }, 0, 0.5);
  expect_derivative(
      "clip high", [](const Real& x) { return Real(nax::clip(x, 0, 1)); }, 1, 0.5);
  expect_derivative(
      "clip inside", [](const Real& x) { return Real(nax::clip(x, nax::none, 1)); }, 0.5, 1);
  expect_derivative("abs", NAX_ROW(double, double, nax::abs), 0, 0);
  expect_derivative(
      "hypot", [](const Real& x) { return Real(nax::hypot(x, 0)); }, 0, 0);
}

TEST(Arithmetic, WholePowers) {
  expect_derivatives(
      "cube", [](const Real& x) { return Real(nax::power(x, 3)); }, -2, 2);
  expect_derivative(
      "power 2", [](const Real& x) { return Real(nax::power(x, 2)); }, 0, 0);
  expect_second(
      "power 2", [](const Real& x) { return Real(nax::power(x, 2)); }, 0, 2);
  expect_derivative(
      "power 1", [](const Real& x) { return Real(nax::power(x, 1)); }, 0, 1);
  expect_derivative(
      "power 0", [](const Real& x) { return Real(nax::power(x, 0)); }, 0, 0);
  expect_derivative(
      "power -1", [](const Real& x) { return Real(nax::power(x, -1)); }, 2, -0.25);
  expect_derivative(
      "power 2.0", [](const Real& x) { return Real(nax::power(x, 2.0)); }, 0, 0);
  expect_derivative(
      "power 0.5", [](const Real& x) { return Real(nax::power(x, 0.5)); }, 4, 0.25);
  EXPECT_EQ(Int(nax::power(Int{-7, 0, 3}, 3)).to_vector(), (std::vector<int>{-343, 0, 27}));
  EXPECT_EQ(Int(nax::power(Int{2, -1, 1}, Int{-1, -3, -2})).to_vector(), (std::vector<int>{0, -1, 1}));
  EXPECT_THROW(nax::power(Int{2}, -1), nax::ValueError);
  EXPECT_EQ((nax::power(2.0, 10).item()), 1024.f);
}

TEST(Arithmetic, RoundToDecimals) {
  expect_close("round", numbers(Real(nax::round(Real{1.2345, -2.675, 15.5}, {.decimals = 2}))),
               {1.23, -2.68, 15.5}, 1e-15);
  expect_close("round", numbers(Real(nax::round(Real{1250, 1350, -149}, {.decimals = -2}))),
               {1200, 1400, -100}, 0);
  EXPECT_EQ(Int(nax::round(Int{1250, 1350, -149, 7}, {.decimals = -2})).to_vector(),
            (std::vector<int>{1200, 1400, -100, 0}));
  EXPECT_EQ(Int(nax::round(Int{5}, {.decimals = -12})).item(), 0);
  const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  EXPECT_EQ(Int(nax::round(Int{most, least}, {.decimals = -3})).to_vector(),  // the multiples wrap around
            (std::vector<int>{-2147483296, 2147483296}));
  static_assert(nax::rules::round_decimals::value(most, 1, 1000) == -2147483296);  // nothing undefined
}

TEST(Arithmetic, UnusualNumbers) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Real x{nan, inf, -inf, -0.0, 1};
  expect_close("nan_to_num", numbers(Real(nax::nan_to_num(x, {.nan = 7, .posinf = 8}))),
               {7, 8, std::numeric_limits<double>::lowest(), 0, 1}, 0);
  expect_close("heaviside", numbers(Real(nax::heaviside(x, 0.25))), {nan, 1, 0, 0.25, 1}, 0);
  expect_close("fmax", numbers(Real(nax::fmax(x, 0.5))), {0.5, inf, 0.5, 0.5, 1}, 0);
  expect_close("nextafter", numbers(Real(nax::nextafter(Real{1}, 2.0))), {std::nextafter(1, 2)}, 0);
  expect_close("floor_divide", numbers(Real(nax::floor_divide(Real{1, -1, 7}, Real{0, 0, inf}))),
               {inf, -inf, 0}, 0);
}

}  // namespace arithmetic_test

#undef BOTH
#undef BOTH2
#undef ROW
#undef ROW2
