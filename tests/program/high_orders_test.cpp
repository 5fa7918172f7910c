#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <tuple>
#include <utility>

#include "recorded_once.hpp"

// Derivatives of high order under jit: their formulas have many more inputs and results than the functions.
namespace high_orders_test {
using namespace nax;
using D = Array<double>;

// The directional derivative along ones, as a function.
auto derivative(const auto& f) {
  return [f](const D& x) { return D(jvp(f, std::tuple{x}, std::tuple{ones_like(x)}).second); };
}
auto slope(const auto& f) {
  return [f](const D& x) { return D(grad([&](const D& v) { return D(sum(f(v))); })(x)); };
}

// Expressions of 4, 6 and 12 arrays.
D of_four(const D& x) {
  const D a = sin(x), b = cos(x), c = tanh(x), e = exp(x * .1);
  return a * b * c * e;
}
D of_six(const D& x) {
  const D a = sin(x), b = cos(x), c = tanh(x), e = exp(x * .1), h = log(x + 1.), k = sqrt(x);
  return a * b * c * e * h * k;
}
D of_twelve(const D& x) {
  const D a = sin(x), b = cos(x), c = tanh(x), e = exp(x * .1), h = log(x + 1.), k = sqrt(x);
  const D l = x * x, m = x + 2., n = exp(-x), o = cosh(x), p = sinh(x), q = cbrt(x + 1.);
  return a * b * c * e * h * k * l * m * n * o * p * q;
}

void expect_plain(const char* name, const auto& f, std::int64_t n = 100) {
  recorded_once::expect_recorded_once(name, f, linspace<double>(.1, .9, n), linspace<double>(.2, .8, n));
}

TEST(HighOrders, OfNestedJvpAreThosePlain) {
  const auto d = [](const auto& f) { return derivative(f); };
  expect_plain("12 arrays, order 3", d(d(d(of_twelve))));
  expect_plain("6 arrays, order 4", d(d(d(d(of_six)))));
  expect_plain("4 arrays, order 5", d(d(d(d(d(of_four))))));
  const D x = linspace<double>(.1, .9, 100);
  EXPECT_NEAR(sum(jit(d(d(d(d(of_six)))))(x)).item(), -1262.2258808604154, 1e-9);
}

TEST(HighOrders, OfNestedGradientsAreThosePlain) {
  const auto d = [](const auto& f) { return slope(f); };
  expect_plain("6 arrays, order 3", d(d(d(of_six))));
  expect_plain("12 arrays, order 3", d(d(d(of_twelve))));
  expect_plain("4 arrays, order 4", d(d(d(d(of_four)))));
}

// One tape and line by line, as threads share the elements.
TEST(HighOrders, OfLongAndOfStridedArraysAreThosePlain) {
  const auto d = [](const auto& f) { return derivative(f); };
  expect_plain("long", d(d(d(d(of_six)))), 50000);
  const auto strided = [&](const D& x) {
    const D columns = broadcast_to(x.reshape({x.size(), 1}), {x.size(), 3});
    return D(sum(d(d(d(d([&](const D& v) { return of_six(D(v * columns.T())); }))))(columns.T())));
  };
  expect_plain("strided", strided, 40);
}

// The fifth derivative of x^4 and more, by central differences of the fourth.
TEST(HighOrders, AgreeWithDifferences) {
  const auto fourth = derivative(derivative(derivative(derivative(of_four))));
  const auto fifth = jit(derivative(fourth));
  const D x = linspace<double>(.3, .8, 6), step = full_like(x, 1e-5);
  const auto a = fifth(x).to_vector();
  const auto b = D((fourth(D(x + step)) - fourth(D(x - step))) / (2. * step)).to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i])));
}

}  // namespace high_orders_test
