#include "elementwise/support.hpp"
#include "nax/nn/activations.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"

// Special functions and activations.
using namespace elementwise;

namespace special_test {
namespace sp = nax::special;
namespace nn = nax::nn;

TEST(Special, Values) {
#define BOTH(name, function, ulps)                            \
  expect_golden(name, NAX_ROW(float, float, function), ulps), \
      expect_golden(name, NAX_ROW(double, double, function), ulps)
  BOTH("erf", sp::erf, 8), BOTH("erfc", sp::erfc, 16), BOTH("erfinv", sp::erfinv, 16),
      BOTH("lgamma", sp::gammaln, 500);
  BOTH("expit", sp::expit, 8), BOTH("logit", sp::logit, 8), BOTH("relu", nn::relu, 0),
      BOTH("gelu", nn::gelu, 64);
  BOTH("silu", nn::silu, 8), BOTH("softplus", nn::softplus, 8);
#define EXACT(x) nn::gelu(x, {.approximate = false})
  BOTH("gelu.exact", EXACT, 16);
}

TEST(Special, KnownValues) {
  expect_close("digamma", numbers(Real(sp::digamma(Real{1, 0.5, 10, -0.5, 100}))),
               {-0.57721566490153286061, -1.9635100260214234794, 2.2517525890667211077,
                0.036489973978576520559, 4.6001618527380874002},
               1e-14);
  expect_close("trigamma", numbers(Real(sp::polygamma(1, Real{1, 0.5, 10, -0.5}))),
               {1.6449340668482264365, 4.9348022005446793094, 0.10516633568168574612, 8.9348022005446793094},
               1e-14);
  expect_close("tetragamma", numbers(Real(sp::polygamma(2, Real{1}))), {-2.4041138063191885708}, 1e-14);
  expect_close("erfinv", numbers(Real(sp::erfinv(Real{1 - 1e-12, -0.999999, 1e-9}))),
               {5.042031898572696, -3.458910737275499, 8.86226925452758e-10}, 1e-11);
  expect_close("entr", numbers(Real(sp::entr(Real{0, 1, 0.5}))), {0, 0, 0.34657359027997265471}, 1e-15);
  expect_close("xlogy", numbers(Real(sp::xlogy(Real{0, 2}, Real{0, 3}))), {0, 2.1972245773362193828}, 1e-15);
  expect_close("gamma", numbers(Real(sp::gamma(Real{5, 0.5}))), {24, 1.7724538509055160273}, 1e-15);
}

TEST(Special, Derivatives) {
#define ROW(function, low, high) expect_derivatives(#function, NAX_ROW(double, double, function), low, high)
#define ROW2(function, a, b, c, d) \
  expect_derivatives(#function, NAX_ROW2(double, double, function), a, b, c, d)
  ROW(sp::erf, -2, 2), ROW(sp::erfc, -2, 2), ROW(sp::erfinv, -0.8, 0.8), ROW(sp::ndtr, -2, 2);
  ROW(sp::gammaln, 0.6, 4), ROW(sp::gamma, 0.6, 3), ROW(sp::digamma, 0.6, 4), ROW(sp::expit, -3, 3);
  ROW(sp::log_expit, -3, 3), ROW(sp::logit, 0.2, 0.8), ROW(sp::entr, 0.3, 2);
  ROW2(sp::xlogy, 0.5, 2, 0.5, 2), ROW2(sp::xlog1py, 0.5, 2, 0.5, 2);
}

TEST(Activations, Derivatives) {
  ROW(nn::relu, -2, 2), ROW(nn::relu6, -2, 7.7), ROW(nn::sigmoid, -3, 3), ROW(nn::silu, -3, 3);
  ROW(nn::softplus, -3, 3), ROW(nn::soft_sign, -2, 2), ROW(nn::hard_tanh, -2.2, 2), ROW(nn::selu, -2, 2);
  ROW(nn::leaky_relu, -2, 2), ROW(nn::elu, -2, 2), ROW(nn::celu, -2, 2), ROW(nn::gelu, -3, 3),
      ROW(EXACT, -3, 3);
  expect_derivative("relu", NAX_ROW(double, double, nn::relu), 0, 0);
  expect_derivative(
      "elu", [](const Real& x) { return Real(nn::elu(x, {.alpha = 2})); }, -1, 2 * std::exp(-1));
  expect_derivative(
      "leaky_relu", [](const Real& x) { return Real(nn::leaky_relu(x, {.negative_slope = 0.2})); }, -1, 0.2);
}

}  // namespace special_test

#undef BOTH
#undef EXACT
#undef ROW
#undef ROW2
