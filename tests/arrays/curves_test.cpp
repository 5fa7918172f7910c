#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>

#include "support/text_of.hpp"

// Corner cases of diff, trapezoid, interp, polyval and isin, with NumPy's results.

namespace curves_test {

using namespace nax;
using A = Array<double>;

TEST(Curves, DiffOfOtherTypes) {
  EXPECT_EQ(diff(Array<int>{{1, 2, 4}, {1, 1, 1}}, {.prepend = 0}).to_vector(),
            (std::vector<int>{1, 1, 2, 1, 0, 0}));
  EXPECT_EQ(diff(Array<bool>{true, false, false}).to_vector(), (std::vector<bool>{true, false}));
  EXPECT_EQ(diff(Array<std::uint8_t>{3, 1}).to_vector(), (std::vector<std::uint8_t>{254}));
  EXPECT_EQ(diff(Array<std::complex<float>>{{1, 2}}, {.axis = 0}).shape(), Shape({0, 2}));
}

TEST(Curves, TrapezoidOfFewAndWholeNumbers) {
  EXPECT_EQ(trapezoid(Array<int>{1, 2, 3}).item(), 4.f);
  EXPECT_EQ(trapezoid(A{5}).item(), 0.);
  EXPECT_EQ(trapezoid(zeros<double>({2, 0})).to_vector(), (std::vector<double>{0, 0}));
}

TEST(Curves, InterpBetweenAndBeyondPoints) {
  const A twice = interp(A{1, .5, 1.5, 2, 0}, A{0, 1, 1, 2}, A{0, 1, 5, 6});
  EXPECT_EQ(twice.to_vector(), (std::vector<double>{5, .5, 5.5, 6, 0}));
  EXPECT_TRUE(std::isnan(interp(A{std::nan("")}, A{0, 1}, A{2, 3})(0).item()));
  EXPECT_EQ(interp(A{-1, 0, 1}, A{0}, A{7}).to_vector(), (std::vector<double>{7, 7, 7}));
  EXPECT_EQ(interp(2.5, Array<int>{0, 1, 3}, A{1, 2, 0}).item(), .5);
  const double far = INFINITY;
  EXPECT_EQ(interp(A{-far, far}, A{0, 1}, A{2, 3}, {.left = 5.}).to_vector(), (std::vector<double>{5, 3}));
}

TEST(Curves, PolyvalOfAnyDegree) {
  EXPECT_EQ(polyval(Array<int>{3, 0, 1}, Array<int>{5, 2}).to_vector(), (std::vector<int>{76, 13}));
  EXPECT_EQ(polyval(zeros<double>({0}), A{1, 2}).to_vector(), (std::vector<double>{0, 0}));
}

TEST(Curves, IsinFindsEachElement) {
  EXPECT_EQ(isin(Array<int>{{1, 2}, {3, 4}}, Array<int>{{2, 4}, {7, 7}}).to_vector(),
            (std::vector<bool>{false, true, false, true}));
  const double nan = std::nan("");
  EXPECT_EQ(isin(A{1, nan, 3}, A{nan, 3}, {.invert = true}).to_vector(),
            (std::vector<bool>{true, true, false}));
  EXPECT_EQ(isin(A{1, 2}, zeros<double>({0})).to_vector(), (std::vector<bool>{false, false}));
  EXPECT_EQ(isin(zeros<double>({0}), A{1}).size(), 0);
}

TEST(Curves, ErrorsNameTheArgument) {
  EXPECT_EQ(text_of<ValueError>([] { diff(A{1, 2}, {.n = -1}); }), "diff: n must not be negative, got -1");
  EXPECT_EQ(text_of<ShapeError>([] { diff(A(1)); }), "diff: the array must be at least 1-d");
  EXPECT_NE(text_of<ShapeError>([] {
              diff(A{{1, 2}}, {.prepend = A{{1}, {2}}});
            }).find("diff: "),
            std::string::npos);
  EXPECT_EQ(text_of<ShapeError>([] { trapezoid(A(1)); }), "trapezoid: y must be at least 1-d");
  EXPECT_EQ(text_of<ShapeError>([] {
              trapezoid(A{{1, 2}}, {.x = A{1, 2, 3}});
            }),
            "trapezoid: x must be 1-d, as long as y's axis 1, or have y's shape: (3,) against (1, 2)");
  EXPECT_EQ(text_of<ValueError>([] {
              interp(A{1}, A{1, 2}, A{1});
            }),
            "interp: xp and fp must be 1-d, of one length and not empty: (2,) and (1,)");
  EXPECT_EQ(text_of<ValueError>([] { polyval(A{{1}}, A{1}); }),
            "polyval: the coefficients must be 1-d, shape (1, 1)");
}

TEST(Curves, SearchsortedComparesNumbersAsTheyAre) {
  const auto at = [](const auto& a, auto v) {
    return std::pair{searchsorted(a, v).item(), searchsorted(a, v, {.side = "right"}).item()};
  };
  using Pair = std::pair<int, int>;
  const Array<int> whole = {1, 2, 2, 3};
  EXPECT_EQ(at(whole, 2.5), Pair(3, 3));
  EXPECT_EQ(at(whole, 2.), Pair(1, 3));
  EXPECT_EQ(at(whole, -.5f), Pair(0, 0));
  EXPECT_EQ(at(whole, half(1.5f)), Pair(1, 1));
  EXPECT_EQ(at(whole, true), Pair(0, 1));
  for (const double v : {1e10, 1e300, double(INFINITY), std::nan("")})
    EXPECT_EQ(at(whole, v), Pair(4, 4)) << v;
  EXPECT_EQ(at(whole, -1e10), Pair(0, 0));
  EXPECT_EQ(at(Array<std::uint8_t>{0, 255}, -1), Pair(0, 0));
  EXPECT_EQ(at(Array<std::uint8_t>{0, 255}, 256), Pair(2, 2));
  EXPECT_EQ(at(Array<std::int64_t>{INT64_MIN, INT64_MAX}, 0x1p63), Pair(2, 2));
  EXPECT_EQ(at(Array<std::int64_t>{INT64_MIN, INT64_MAX}, -0x1p63), Pair(0, 1));
  EXPECT_EQ(at(Array<bool>{false, true}, .5), Pair(1, 1));
  EXPECT_EQ(at(A{1, 2}, 2), Pair(1, 2));
  EXPECT_EQ(jit([](const Array<int>& a) { return searchsorted(a, 2.5); })(whole).item(), 3);
  EXPECT_EQ(
      vmap([](const Array<int>& a) { return searchsorted(a, 2.5); })(Array<int>{{1, 2}, {2, 3}}).to_vector(),
      (std::vector<int>{2, 1}));
  EXPECT_EQ(digitize(A{.5, 2.5}, whole).to_vector(), (std::vector<int>{0, 3}));
}

TEST(Curves, InterpKeepsDoublesAmongFloats) {
  const Array<float> points = {0, 1}, values = {0, 3};
  const double x = .1;
  const auto y = interp(A{x}, points, values);
  static_assert(std::is_same_v<decltype(y), const A>);
  EXPECT_EQ(y(0).item(), 3 * x);
  EXPECT_EQ(interp(A{-1}, points, values, {.left = .5f})(0).item(), .5);
  EXPECT_EQ(interp(A{-1}, A{0, 1}, values, {.left = .5f})(0).item(), .5);
  static_assert(std::is_same_v<decltype(interp(x, points, values)), Array<float>>);
  static_assert(std::is_same_v<decltype(interp(points, points, values)), Array<float>>);
}

// By NumPy.
TEST(Curves, InterpBesideInfinities) {
  const double inf = INFINITY, nan = std::nan("");
  const A x = {-1, 0, .5, 1, 1.5, 2, 2.5, 3, 4, nan}, xp = {0, 1, 2, 3};
  const auto check = [](const A& x, const A& xp, const A& fp, const std::vector<double>& want) {
    const auto f = [&](const A& x) { return interp(x, xp, fp); };
    for (const A& y : {f(x), jit(f)(x), vmap(f)(x)})
      for (std::size_t i = 0; i < want.size(); ++i) {
        const double v = y(static_cast<int>(i)).item();
        EXPECT_TRUE(v == want[i] || (std::isnan(v) && std::isnan(want[i])))
            << "fp " << fp << ", x " << x(static_cast<int>(i)) << ": " << v << " for " << want[i];
      }
  };
  check(x, xp, A{0, 1, inf, 3}, {0, 0, .5, 1, inf, inf, inf, 3, 3, nan});
  check(x, xp, A{inf, inf, 1, 2}, {inf, inf, inf, inf, inf, 1, 1.5, 2, 2, nan});
  check(x, xp, A{-inf, inf, 1, 2}, {-inf, -inf, nan, inf, inf, 1, 1.5, 2, 2, nan});
  check(x, xp, A{1, -inf, inf, 4}, {1, 1, -inf, -inf, nan, inf, inf, 4, 4, nan});
  check(x, xp, A{1, nan, 3, 4}, {1, 1, nan, nan, nan, 3, 3.5, 4, 4, nan});
  check(x, xp, A{1, 2, 3, inf}, {1, 1, 1.5, 2, 2.5, 3, inf, inf, inf, nan});
  check(x, xp, A{inf, inf, inf, inf}, {inf, inf, inf, inf, inf, inf, inf, inf, inf, nan});
  const A far = {-inf, -1, 0, .5, 1, 1.5, inf, nan};
  check(far, A{-inf, 0, 1, inf}, A{0, 1, 2, 3}, {0, 1, 1, 1.5, 2, 2, 3, nan});
  check(far, A{-inf, 0, 1, inf}, A{-inf, 0, 1, inf}, {-inf, nan, 0, .5, 1, nan, inf, nan});
  check(far, A{-inf, -inf, 0, 1}, A{0, 1, 2, 3}, {1, 2, 2, 2.5, 3, 3, 3, nan});
  check(far, A{0, 1, inf, inf}, A{0, 1, 2, 3}, {0, 0, 0, .5, 1, 1, 3, nan});
  check(far, A{-inf, inf, inf, inf}, A{5, 5, 5, 5}, {5, 5, 5, 5, 5, 5, 5, nan});
  check(far, A{-inf, inf, inf, inf}, A{0, 1, 2, 3}, {0, nan, nan, nan, nan, nan, 3, nan});
  // Derivatives of finite lines stay so.
  const A fp = {0, 2, inf, 3};
  EXPECT_EQ(grad([&](const A& x) { return A(sum(interp(x, xp, fp))); })(A{.5, .25}).to_vector(),
            (std::vector<double>{2, 2}));
  EXPECT_EQ(grad([&](const A& fp) {
              return A(sum(interp(A{.5, 1}, xp, fp)));
            })(fp)
                .to_vector(),
            (std::vector<double>{.5, 1.5, 0, 0}));
  using H = Array<half>;
  const H y = interp(H{half(.5f), half(1.5f)}, H{half(0.f), half(1.f), half(2.f)},
                     H{half(0.f), half(1.f), half(INFINITY)});
  EXPECT_EQ(static_cast<float>(y(0).item()), .5f);
  EXPECT_EQ(static_cast<float>(y(1).item()), INFINITY);
}

}  // namespace curves_test
