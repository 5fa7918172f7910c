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

}  // namespace curves_test
