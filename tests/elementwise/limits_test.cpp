// Elementwise functions at removable singularities.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/special/integrals.hpp"
#include "nax/special/recorded.hpp"
#include "nax/transform/grad.hpp"
#include "support/refusal.hpp"

namespace elementwise_limits_test {

using A = nax::Array<double>;
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Limits, DerivativesOfSpenceAtOne) {
  const auto first = nax::grad([](const A& x) { return nax::special::spence(x); });
  const auto second = nax::grad(first);
  const auto third = nax::grad(second);
  EXPECT_DOUBLE_EQ(first(A(1.0)).item(), -1);
  EXPECT_NEAR(second(A(1.0)).item(), 0.5, 1e-15);
  EXPECT_NEAR(third(A(1.0)).item(), -2.0 / 3, 1e-15);
  // Near 1 nothing cancels; elsewhere they are log(x) / (1 - x) and its derivatives (mpmath).
  EXPECT_NEAR(second(A(1 + 1e-9)).item(), 0.5, 1e-8);
  EXPECT_NEAR(first(A(2.0)).item(), -0.693147180559945309, 1e-15);
  EXPECT_NEAR(second(A(2.0)).item(), 0.193147180559945309, 1e-14);
  EXPECT_NEAR(first(A(1e-3)).item(), -6.91466994893107, 1e-13);
  EXPECT_EQ(first(A(0.0)).item(), -inf);
  EXPECT_EQ(first(A(inf)).item(), 0);
}

TEST(Limits, ComplexPowersOfZero) {
  using C = std::complex<double>;
  const auto power = [](C x, C y) {
    return nax::Array<C>(nax::power(nax::Array<C>(x), nax::Array<C>(y))).item();
  };
  EXPECT_EQ(power(0, 0), C(1));
  EXPECT_EQ(power(C(-0.0, 0), 0), C(1));
  EXPECT_EQ(power(0, 1), C(0));
  EXPECT_EQ(power(0, C(2.5, 1)), C(0));
  EXPECT_EQ(power(3, 0), C(1));
  for (const C y : {C(-1), C(0, 1), C(-1, 1)}) EXPECT_TRUE(std::isnan(power(0, y).real())) << y;
  EXPECT_NEAR(std::abs(power(C(1, 1), C(2, 0)) - C(0, 2)), 0, 1e-15);
  const nax::Array<std::complex<float>> few = {std::complex<float>(0)};
  EXPECT_EQ(nax::Array<std::complex<float>>(nax::float_power(few, few))(0).item(), std::complex<float>(1));
}

TEST(Limits, InfiniteRanges) {
  for (const double stop : {-inf, inf})
    EXPECT_EQ(refusal([&] { nax::arange<double>(0, stop); }).substr(0, 27), "arange: array is too big: s")
        << stop;
  EXPECT_EQ(refusal([&] { nax::arange<double>(inf, 0.0); }).substr(0, 27), "arange: array is too big: s");
  EXPECT_EQ(nax::arange<double>(0, 5, inf).to_vector(), std::vector<double>{0});
  EXPECT_EQ(nax::arange<double>(0, 5, -inf).size(), 0);
  EXPECT_EQ(nax::arange<double>(0, -5, -inf).to_vector(), std::vector<double>{0});
  EXPECT_EQ(nax::arange<double>(0, -5, 1).size(), 0);
  EXPECT_EQ(nax::arange<double>(5, 5, inf).size(), 0);
}

}  // namespace elementwise_limits_test
