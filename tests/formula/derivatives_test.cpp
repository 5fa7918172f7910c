#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/nax.hpp"

// Derivatives inside another transform, which are formulas if the program links nax::compiled: of any order
// and mode, over all layouts, and with zeros times infinities.
namespace derivatives_of_formulas {

using nax::Array;

const auto f = [](const Array<double>& x) { return nax::sum(nax::tanh(1.5 * x) * x); };
// Its first three derivatives, by hand.
double derivative(int order, double x) {
  const double t = std::tanh(1.5 * x), s = 1 - t * t;
  if (order == 1) return t + 1.5 * x * s;
  if (order == 2) return 3 * s - 4.5 * x * t * s;
  return -13.5 * t * s + x * (-6.75 * s * s + 13.5 * t * t * s);
}

TEST(FormulaDerivatives, OfHessiansTimesVectors) {
  for (const int n : {1, 10, 1000, 70000}) {
    const Array<double> x = nax::linspace<double>(-2, 2, n), v = nax::cos(3.0 * x);
    const Array<double> forward = std::get<1>(nax::jvp(nax::grad(f), std::tuple(x), std::tuple(v)));
    const Array<double> reverse =
        nax::grad([&](const Array<double>& y) { return nax::sum(nax::grad(f)(y) * v); })(x);
    for (int i = 0; i < n; i += 7) {
      const double expected = derivative(2, x(i).item()) * v(i).item();
      ASSERT_NEAR(forward(i).item(), expected, 1e-12) << n << ", " << i;
      ASSERT_NEAR(reverse(i).item(), expected, 1e-12) << n << ", " << i;
    }
  }
}

TEST(FormulaDerivatives, OfNumbers) {
  const auto d2 = nax::grad(nax::grad(f));
  const auto d3 = nax::grad(d2);
  for (const double x : {-1.0, 0.0, 0.4}) {
    EXPECT_NEAR(d2(x).item(), derivative(2, x), 1e-12);
    EXPECT_NEAR(d3(x).item(), derivative(3, x), 1e-12);
    const auto along = [](const auto& g) {
      return [g](const Array<double>& y) {
        return std::get<1>(nax::jvp(g, std::tuple(y), std::tuple(Array<double>(1.0))));
      };
    };
    EXPECT_NEAR(along(along(f))(x).item(), derivative(2, x), 1e-12);
    EXPECT_NEAR(along(along(along(f)))(x).item(), derivative(3, x), 1e-12);
    EXPECT_NEAR(nax::grad(along(nax::grad(f)))(x).item(), derivative(3, x), 1e-12);
  }
}

// Rows, columns, transposed and reversed arrays, numbers, masks.
TEST(FormulaDerivatives, OverAllLayouts) {
  const Array<double> a = nax::reshape(nax::linspace<double>(-1, 1, 12), {3, 4}), row = a[0] + 0.3;
  const auto g = [&](const Array<double>& x, const Array<double>& r, const Array<double>& s) {
    const Array<double> turned = x.T();
    return nax::sum(nax::where(a > -0.5, nax::sin(x * r + s), x) * nax::exp(turned.T() * s) +
                    nax::square(r[nax::slice(nax::none, nax::none, -1)] * x));
  };
  const Array<double> s = 0.7;
  const auto sum_of_squares = [&](const Array<double>& x, const Array<double>& r, const Array<double>& s) {
    const auto [dx, dr, ds] = nax::grad<0, 1, 2>(g)(x, r, s);
    return nax::sum(dx * dx) + nax::sum(dr * dr) + ds * ds;
  };
  const auto [dx, dr, ds] = nax::grad<0, 1, 2>(sum_of_squares)(a, row, s);
  const double h = 1e-6;
  const auto along = [&](const Array<double>& x, const Array<double>& r, const Array<double>& s) {
    return (sum_of_squares(a + h * x, row + h * r, Array<double>(nax::detail::materialise(0.7 + h * s)))
                .item() -
            sum_of_squares(a - h * x, row - h * r, Array<double>(nax::detail::materialise(0.7 - h * s)))
                .item()) /
           (2 * h);
  };
  const Array<double> none = 0.0, one = 1.0, vx = nax::cos(5.0 * a), vr = nax::cos(3.0 * row);
  EXPECT_NEAR(nax::sum(dx * vx).item(), along(vx, none, none), 1e-5);
  EXPECT_NEAR(nax::sum(dr * vr).item(), along(none, vr, none), 1e-5);
  EXPECT_NEAR(ds.item(), along(none, none, one), 1e-5);
}

TEST(FormulaDerivatives, UnderVmap) {
  const Array<double> xs = nax::reshape(nax::linspace<double>(-1, 1, 15), {5, 3});
  const Array<double> hessians = nax::vmap(nax::hessian(f))(xs);
  ASSERT_EQ(hessians.shape(), (nax::Shape{5, 3, 3}));
  for (int b = 0; b < 5; ++b)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(hessians(b, i, j).item(), i == j ? derivative(2, xs(b, i).item()) : 0, 1e-12);
}

// A zero cotangent contributes zero, a zero tangent too, and so does a derivative of zero.
TEST(FormulaDerivatives, OfZeros) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto root = [](const Array<double>& x) { return nax::sum(nax::where(x > 0, nax::sqrt(x), 0)); };
  const Array<double> x = {-1, 0, 4}, ones = {1, 1, 1};
  const Array<double> second =
      nax::grad([&](const Array<double>& y) { return nax::sum(nax::grad(root)(y)); })(x);
  EXPECT_EQ(second.to_vector(), (std::vector<double>{0, 0, -0.25 / 8}));
  EXPECT_EQ(std::get<1>(nax::jvp(nax::grad(root), std::tuple(x), std::tuple(ones))).to_vector(),
            (std::vector<double>{0, 0, -0.25 / 8}));
  const auto cube = [](const Array<double>& y) { return nax::sum(y * y * y); };
  const Array<double> zero = {0.0}, infinite = {inf};
  EXPECT_EQ(std::get<1>(nax::jvp(nax::grad(cube), std::tuple(zero), std::tuple(infinite)))(0).item(), 0);
  EXPECT_EQ(nax::grad(nax::grad(nax::grad(cube)))(Array<double>(0.0)).item(), 6);
}

// Arrays whose gradient is not wanted, integers, halves and mixed types.
TEST(FormulaDerivatives, OfOtherTypes) {
  const Array<float> x = {0.5f, 1, 2};
  const Array<int> k = {1, 2, 3};
  const auto mixed = [&](const Array<float>& y) { return nax::sum(nax::exp(y * k)); };
  const Array<float> product =
      std::get<1>(nax::jvp(nax::grad(mixed), std::tuple(x), std::tuple(nax::ones_like(x))));
  for (int i = 0; i < 3; ++i) {
    const float n = static_cast<float>(i + 1);
    EXPECT_NEAR(product(i).item(), n * n * std::exp(n * x(i).item()), 1e-4f * product(i).item());
  }
  const auto rate = [&](float by) {
    return nax::grad([&](const Array<float>& y) {
      return nax::sum(
          nax::grad([&](const Array<float>& z) { return nax::sum(nax::power(z, 3) * by / 2.f); })(y));
    })(x);
  };
  for (const float by : {1.f, 2.5f, -3.f}) EXPECT_NEAR(rate(by)(2).item(), 6 * by, 1e-5f);
}

// Functions of lanes have no formula for their derivatives, and rules handle corner cases that their steps do
// not.
TEST(FormulaDerivatives, OfFunctionsWithoutFormulas) {
  const auto second = [](auto function, double x) {
    const auto g = nax::grad([&](const Array<double>& y) -> Array<double> { return function(y); });
    return nax::grad([&](const Array<double>& y) -> Array<double> { return g(y); })(x).item();
  };
  const double h = 1e-4;
  const auto bessel = [](const Array<double>& y) { return nax::special::i0(y) * y; };
  const auto at = [&](double x) { return Array<double>(bessel(Array<double>(x))).item(); };
  EXPECT_NEAR(second(bessel, 0.5), (at(0.5 + h) - 2 * at(0.5) + at(0.5 - h)) / (h * h), 1e-6);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(second([](const Array<double>& y) { return nax::arcsin(y) * 2; }, 1), inf);
}

// A zero cotangent ends a share, and not the share's derivative in the cotangent.
TEST(FormulaDerivatives, InCotangentsThatAreZero) {
  const Array<double> x = {-1, 0, 0.4};
  const auto slopes = [&](const Array<double>& t) {
    return nax::sum(nax::grad([&](const Array<double>& y) {
      const Array<double> value = nax::tanh(1.5 * y) * y;
      return nax::sum(value * t);
    })(x));
  };
  const Array<double> zero = nax::zeros<double>({3}), one = nax::ones<double>({3});
  const Array<double> reverse = nax::grad(slopes)(zero);
  const Array<double> forward = std::get<1>(nax::jvp(slopes, std::tuple(zero), std::tuple(one)));
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(reverse(i).item(), derivative(1, x(i).item()), 1e-12);
    sum += derivative(1, x(i).item());
  }
  EXPECT_NEAR(forward.item(), sum, 1e-12);
}

#if defined(NAX_USES_FORMULAS)
// One plan serves all numbers of an expression, in every call.
TEST(FormulaDerivatives, MakeOnePlanForAllNumbers) {
  const Array<double> x = {0.5, 1};
  const auto value = [](const Array<double>& y, double rate) { return nax::sin(rate * y) / (3 + y); };
  for (int k = 1; k < 100; ++k) {
    const double rate = 0.01 * k;
    const Array<double> bends = nax::grad([&](const Array<double>& y) {
      return nax::sum(nax::grad([&](const Array<double>& z) { return nax::sum(value(z, rate)); })(y));
    })(x);
    const double y = 0.5, s = std::sin(rate * y), c = std::cos(rate * y), d = 3 + y;
    EXPECT_NEAR(bends(0).item(), -rate * rate * s / d - 2 * rate * c / (d * d) + 2 * s / (d * d * d), 1e-12);
  }
  using E = std::remove_cvref_t<decltype(value(x, 1))>;
  const auto* const plan = nax::detail::fused_type_of<E>().derivatives.load();
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->next, nullptr);
}
#endif

}  // namespace derivatives_of_formulas
