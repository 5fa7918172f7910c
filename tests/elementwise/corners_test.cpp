// Derivatives at poles, ends of domains and kinks against JAX's values, and NumPy 2's results for small types
// and NaNs.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/nn/activations.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/reductions/nan_reductions.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/unique.hpp"
#include "nax/special/special.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace corners_test {

using A = nax::Array<double>;
constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

void expect_same(double got, double want, double relative = 1e-15) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got)) << got;
  else if (std::isinf(want))
    EXPECT_EQ(got, want);
  else
    EXPECT_NEAR(got, want, relative * std::abs(want));
}
template <class F>
double first(const F& f, double x) {
  return nax::grad([&](const A& a) -> A { return f(a); })(A(x)).item();
}
// Reverse over reverse, and forward over reverse.
template <class F>
void expect_second(const F& f, double x, double want) {
  SCOPED_TRACE(x);
  const auto g = nax::grad([&](const A& a) -> A { return f(a); });
  expect_same(nax::grad([&](const A& a) -> A { return g(a); })(A(x)).item(), want);
  expect_same(nax::jvp(g, std::tuple{A(x)}, std::tuple{A(1.0)}).second.item(), want);
}

TEST(Corners, DigammaNearItsPoles) {
  const auto digamma = [](const A& x) { return A(nax::special::digamma(x)); };
  const auto gammaln = [](const A& x) { return A(nax::special::gammaln(x)); };
  const double at[][2] = {{-1e-8, 99999999.42278434},
                          {1e-8, -100000000.57721567},
                          {-1.0000001, 10000000.4169454},
                          {-0.5, 0.03648997397857652},
                          {-2 + 1e-9, -999999916.3368516}};
  for (const auto& [x, want] : at) {
    expect_same(digamma(A(x)).item(), want, 2e-14);
    expect_same(first(gammaln, x), want, 2e-14);
  }
}

TEST(Corners, SecondDerivativesAtEnds) {
  const auto cbrt = [](const A& x) { return A(nax::cbrt(x)); };
  EXPECT_EQ(first(cbrt, 0.0), inf);
  expect_second(cbrt, 0.0, -inf);
  expect_second(cbrt, -0.0, inf);
  expect_second(cbrt, 1.0, -2. / 9);
  const auto arcsin = [](const A& x) { return A(nax::arcsin(x)); };
  EXPECT_EQ(first(arcsin, 1.0), inf);
  expect_second(arcsin, 1.0, inf);
  expect_second(arcsin, -1.0, -inf);
  expect_second(arcsin, 0.5, 0.7698003589195009);
  const auto arccos = [](const A& x) { return A(nax::arccos(x)); };
  EXPECT_EQ(first(arccos, -1.0), -inf);
  expect_second(arccos, 1.0, -inf);
  expect_second(arccos, -1.0, inf);
  const auto entr = [](const A& x) { return A(nax::special::entr(x)); };
  expect_same(first(entr, -1.0), nan);
  expect_second(entr, -1.0, 0.0);
  EXPECT_EQ(first(entr, 0.0), inf);
  expect_second(entr, 0.0, -inf);
  expect_second(entr, 0.5, -2.0);
}

TEST(Corners, Kinks) {
  const auto relu6 = [](const A& x) { return A(nax::nn::relu6(x)); };
  for (const double x : {-1.0, 0.0, 6.0, 7.0}) EXPECT_EQ(first(relu6, x), 0) << x;
  EXPECT_EQ(first(relu6, 3.0), 1);
  EXPECT_EQ(nax::to_string(relu6(A{-1, 3, 7})), "[0. 3. 6.]");
  // In the middle, where JAX has 1, -1 and 0.5; docs/semantics.md says so.
  EXPECT_EQ(first([](const A& x) { return A(nax::abs(x)); }, 0.0), 0);
  EXPECT_EQ(first([](const A& x) { return A(nax::copysign(x, -1.0)); }, 0.0), 0);
  EXPECT_EQ(first([](const A& x) { return A(nax::hypot(x, 0.0)); }, 0.0), 0);
}

TEST(Corners, SmallTypesAsInNumPy) {
  const nax::Array<bool> ones = {{true, true}, {true, true}};
  const nax::Array<std::int8_t> large = {{100, 0}, {0, 100}};
  const nax::Array<std::uint8_t> bytes = {{200, 0}, {0, 200}};
  static_assert(std::is_same_v<decltype(nax::trace(ones))::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(nax::trace(bytes))::value_type, std::uint32_t>);
  EXPECT_EQ(nax::trace(ones).item(), 2);
  EXPECT_EQ(nax::trace(large).item(), 200);
  EXPECT_EQ(nax::trace(bytes).item(), 400u);
  const auto squares = nax::square(ones);
  static_assert(std::is_same_v<decltype(squares)::value_type, std::int8_t>);
  EXPECT_EQ(nax::to_string(nax::Array<std::int8_t>(squares)), "[[1 1]\n [1 1]]");
  static_assert(std::is_same_v<decltype(nax::square(large))::value_type, std::int8_t>);
  const A m = {{1, 2}, {3, 4}};
  EXPECT_EQ(nax::to_string(nax::grad([](const A& a) { return nax::trace(a); })(m)), "[[1. 0.]\n [0. 1.]]");
  EXPECT_EQ(nax::trace(nax::Array<float>{{1, 2, 3}, {4, 5, 6}}, {.offset = 1}).item(), 8);
}

TEST(Corners, NothingButNaN) {
  const A x = {{1, nan, 3}, {nan, nan, nan}};
  EXPECT_EQ(nax::nanargmax(x).item(), 2);
  EXPECT_EQ(nax::nanargmin(x(0)).item(), 0);
  const auto refused = [](const std::string& text, const auto& f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const nax::ValueError& error) {
      EXPECT_EQ(error.what(), text);
    }
  };
  refused("nanargmax: all-NaN slice encountered", [&] { nax::nanargmax(x, {.axis = 1}); });
  refused("nanargmin: all-NaN slice encountered", [&] { nax::nanargmin(x(1)); });
  refused("nanargmin: all-NaN slice encountered",
          [&] { nax::vmap([](const A& a) { return nax::nanargmin(a); })(x); });
  EXPECT_EQ(nax::to_string(nax::nanargmax(A{{nan, 1}, {2, nan}}, {.axis = 1})), "[1 0]");

  const A several = {nan, 1, nan, 1};
  EXPECT_EQ(nax::to_string(nax::unique(several)), "[ 1. nan]");
  EXPECT_EQ(nax::to_string(nax::unique(several, {.equal_nan = false})), "[ 1. nan nan]");
  EXPECT_EQ(nax::to_string(nax::unique_all(several).counts), "[2 1 1]");
  EXPECT_EQ(nax::to_string(nax::unique_values(several)), "[ 1. nan nan]");
}

}  // namespace corners_test
