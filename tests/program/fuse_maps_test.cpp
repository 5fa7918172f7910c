#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <string>

#include "fuses.hpp"

// Maps of a program that become one step. Where no machine code is made, the same programs are not fused, and
// their values are tested alone.
namespace fuse_maps_test {
using namespace nax;
using F = Array<float>;
using D = Array<double>;

template <class T>
void expect_near(const Array<T>& a, const Array<T>& b, double within) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], within * (1 + std::abs(static_cast<double>(y[i])))) << i;
}

TEST(FuseMaps, ChainsOverRowsColumnsAndNumbers) {
  const auto f = [](const F& x, const F& row, const F& column, const F& number) {
    const F a = x * row, b = a + column, c = tanh(b) * number;
    return F(c / (1.f + square(F(a))));
  };
  const F x = reshape(linspace<float>(-1, 1, 12), {3, 4}), row = {1, 2, 3, 4}, column = {{5}, {6}, {7}},
          number = 2.f;
  expect_steps(make_program(f)(x, row, column, number).text(), 1);
  expect_near(jit(f)(x, row, column, number), f(x, row, column, number), 1e-6);
}

TEST(FuseMaps, SeveralResultsInOnePass) {
  const auto adam = [](const F& p, const F& m, const F& v, const F& g) {
    const F m2 = 0.9f * m + 0.1f * g, v2 = 0.99f * v + 0.01f * square(g);
    return std::tuple(F(p - 0.1f * m2 / (sqrt(v2) + 1e-8f)), m2, v2);
  };
  const F p = linspace<float>(-1, 1, 1000), m = cos(p), v = square(p) + 0.1f, g = sin(3.f * p);
  expect_steps(make_program(adam)(p, m, v, g).text(), 1);
  const auto fast = jit(adam)(p, m, v, g), plain = adam(p, m, v, g);
  expect_near(std::get<0>(fast), std::get<0>(plain), 1e-5);
  expect_near(std::get<1>(fast), std::get<1>(plain), 1e-6);
  expect_near(std::get<2>(fast), std::get<2>(plain), 1e-6);
}

TEST(FuseMaps, WritesSeveralResultsOverDonatedArguments) {
  const auto f = [](const D& x, const D& y) { return std::pair(D(D(x + y) * x), D(D(x - y) * y)); };
  const auto fast = jit(f, {.donate_argnums = {0, 1}});
  for (const std::int64_t n : {1, 5, 64, 1001}) {
    const D x = linspace<double>(1, 2, n), y = linspace<double>(-3, 1, n);
    const auto want = f(x, y);
    for (int call = 0; call < 3; ++call) {
      D a = x * 1.0, b = y * 1.0;
      const auto got = fast(std::move(a), std::move(b));
      expect_near(got.first, want.first, 1e-14);
      expect_near(got.second, want.second, 1e-14);
    }
  }
}

// Chains of functions are several loops where there are many elements.
TEST(FuseMaps, LongChainsOverManyElements) {
  const auto f = [](const F& x, const F& row) {
    F y = x;
    for (int i = 0; i < 3; ++i) y = F(tanh(F(sin(F(y * row)) + 0.1f)));
    return std::pair(y, F(exp(y)));
  };
  for (const std::int64_t n : {255, 256, 300, 1000, 4099, 100003}) {
    const F x = linspace<float>(-3, 3, n), number = 1.5f;
    const auto fast = jit(f)(x, number), plain = f(x, number);
    expect_near(fast.first, plain.first, 1e-5);
    expect_near(fast.second, plain.second, 1e-5);
  }
  const F x = reshape(linspace<float>(-3, 3, 5 * 700), {5, 700}), row = linspace<float>(0, 1, 700);
  expect_near(jit(f)(x, row).second, f(x, row).second, 1e-5);
}

// A sum between two maps runs between them, or with the first; what does not depend on it may be fused with
// either.
TEST(FuseMaps, KeepsTheOrderOfOtherSteps) {
  const auto f = [](const D& x) {
    const D a = exp(x), total = sum(a), b = a / total, c = a * 2.0;
    return D(D(b + c) * total);
  };
  const D x = linspace<double>(-1, 1, 100);
  const std::string text = make_program(f)(x).text();
  expect_steps(text, 2);
  expect_near(jit(f)(x), f(x), 1e-14);
}

TEST(FuseMaps, ReadsSlicesAndTransposesAfterTheyAreWhole) {
  const auto f = [](const D& x) {
    const D a = exp(x), b = a(slice(1, none)) - a(slice(none, -1)), c = D(a.T()) * x;
    return std::pair(D(b * 2.0), c);
  };
  const D x = reshape(linspace<double>(-1, 1, 25), {5, 5});
  const auto fast = jit(f)(x), plain = f(x);
  expect_near(fast.first, plain.first, 1e-14);
  expect_near(fast.second, plain.second, 1e-14);
}

TEST(FuseMaps, ProductsOfHessiansAndVectorsAreOneStep) {
  const auto loss = [](const D& x) { return sum(tanh(1.5 * x) * x); };
  const auto product = [=](const D& x, const D& v) {
    return std::get<1>(jvp(grad(loss), std::tuple(x), std::tuple(v)));
  };
  const D x = linspace<double>(-1, 1, 1000), v = cos(x);
  expect_steps(make_program(product)(x, v).text(), 1);
  expect_near(jit(product)(x, v), product(x, v), 1e-13);
  const auto third = [=](const D& y, const D& v) {
    return grad([&](const D& z) { return sum(product(z, v)); })(y);
  };
  expect_near(jit(third)(x, v), third(x, v), 1e-12);
}

// A gradient that is summed over an axis is a step of its own.
TEST(FuseMaps, GradientsOfBroadcastOperands) {
  const auto f = [](const D& x, const D& row) { return sum(sin(x * row) * tanh(x)); };
  const D x = reshape(linspace<double>(-1, 1, 12), {3, 4}), row = {1, 2, 3, 4};
  const auto fast = jit(grad<0, 1>(f))(x, row), plain = grad<0, 1>(f)(x, row);
  expect_near(std::get<0>(fast), std::get<0>(plain), 1e-14);
  expect_near(std::get<1>(fast), std::get<1>(plain), 1e-14);
}

// An infinite tangent times a derivative of zero, and zeros that meet infinities.
TEST(FuseMaps, InfinitiesAndZeros) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto f = [](const D& x) { return sum(where(x > 0.0, sqrt(x), 0.0) * x); };
  const D x = {-1, 0, 0, 4};
  expect_near(jit(grad(f))(x), grad(f)(x), 1e-14);
  const auto along = [&](const D& y, const D& t) {
    return std::get<1>(
        jvp([](const D& z) { return D(maximum(z, 0.0) * 2.0); }, std::tuple(y), std::tuple(t)));
  };
  const D t = {inf, 1, 2, 3};
  expect_near(D(jit(along)(x, t)(slice(1, none))), D(along(x, t)(slice(1, none))), 1e-14);
  EXPECT_EQ(jit(along)(x, t)(0).item(), along(x, t)(0).item());
}

// Random graphs of maps and other steps, over two shapes.
TEST(FuseMaps, RandomGraphs) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto f = [seed](const D& x, const D& row) {
      std::mt19937 random(seed);
      std::vector<D> made = {x, D(x + row), D(x * 0.5)};
      for (int i = 0; i < 30; ++i) {
        const D a = made[random() % made.size()], b = made[made.size() - 1 - random() % 3];
        switch (random() % 9) {
          case 0:
            made.push_back(D(tanh(a)));
            break;
          case 1:
            made.push_back(D(a - 0.25 * b));
            break;
          case 2:
            made.push_back(D(a * row));
            break;
          case 3:
            made.push_back(D(sin(a) + b));
            break;
          case 4:
            made.push_back(D(a / (2.0 + square(b))));
            break;
          case 5:
            made.push_back(D(a.T() * 0.5));
            break;
          case 6:
            made.push_back(D(b - mean(a)));
            break;
          case 7:
            made.push_back(D(reshape(D(reshape(a, {25}) * 0.9), {5, 5})));
            break;
          default:
            made.push_back(D(maximum(a, b) * tanh(sum(b, {.axis = 0}))));
        }
      }
      return std::pair(D(made.back() * made[made.size() - 4]), made[made.size() - 2]);
    };
    const D x = random::normal<double>(random::key(static_cast<int>(seed)), {5, 5}), row = x(1);
    const auto fast = jit(f)(x, row), plain = f(x, row);
    expect_near(fast.first, plain.first, 1e-10);
    expect_near(fast.second, plain.second, 1e-10);
    const auto slope = [f](const D& y, const D& r) {
      return grad([&](const D& z) { return sum(f(z, r).first); })(y);
    };
    expect_near(jit(slope)(x, row), slope(x, row), 1e-8);
  }
}

}  // namespace fuse_maps_test
