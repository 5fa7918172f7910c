// Roots and fits against NumPy, and errors of polynomials.

#include "nax/numpy/polynomials/polyfit.hpp"
#include "nax/numpy/polynomials/roots.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/sorting/order.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/numpy_more.hpp"
#include "support/refusal.hpp"

namespace polynomials_test {

using A = nax::Array<double>;
using C = nax::Array<std::complex<double>>;

TEST(Roots, MatchNumPy) {
  for (const std::string name : {"roots.five", "roots.zeros", "roots.line"})
    more::expect(name + "/f64/out", nax::sort_complex(nax::roots(more::record(name + "/f64/in0"))), 1e-10);
  EXPECT_EQ(nax::roots(A{0, 0}).size(), 0);
  EXPECT_EQ(nax::roots(A{3}).size(), 0);
  EXPECT_EQ(nax::roots(nax::Array<float>{1, -3, 2}).dtype(), nax::DType::complex64);
  const C complex = nax::sort_complex(
      nax::roots(C{std::complex<double>(1, 0), std::complex<double>(0, -3), std::complex<double>(-2, 0)}));
  EXPECT_NEAR(complex(0).item().imag() + complex(1).item().imag(), 3, 1e-12);
  const auto nan = nax::roots(A{0, 1, 2}, {.strip_zeros = false});
  EXPECT_TRUE(std::isnan(nan(0).item().real()));
  EXPECT_TRUE(std::isnan(nax::roots(A{1, std::nan(""), 2})(1).item().imag()));
}

TEST(Roots, UnderTransforms) {
  // The larger root of x^2 + b x + c: its derivatives are known.
  const auto larger = [](const A& p) { return nax::max(nax::real(nax::roots(p, {.strip_zeros = false}))); };
  const A p = {1, -3, 2}, g = nax::grad(larger)(p);  // roots 2 and 1, slope 1 at 2
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(g(i).item(), -std::pow(2, 2 - i), 1e-12);
  const A all = nax::vmap(larger)(A{{1, -3, 2}, {1, -7, 12}, {2, 0, -2}});
  EXPECT_NEAR(all(1).item(), 4, 1e-12);
  EXPECT_NEAR(all(2).item(), 1, 1e-12);
  EXPECT_EQ(refusal([] {
              nax::vmap([](const A& a) { return nax::real(nax::roots(a)); })(A{{1, 2}});
            }).substr(0, 60),
            "roots: the array is batched by vmap and has no single value ");
}

TEST(Polyfit, MatchesNumPy) {
  for (const std::int64_t deg : {0, 1, 4}) {
    const std::string name = "polyfit.deg=" + std::to_string(deg) + "/f64/";
    more::expect(name + "out", nax::polyfit(more::record(name + "in0"), more::record(name + "in1"), deg),
                 1e-11);
  }
  const A x = more::record("polyfit.w/f64/in0"), y = more::record("polyfit.w/f64/in1");
  more::expect("polyfit.w/f64/out", nax::polyfit(x, y, 2, {.w = more::record("polyfit.w/f64/in2")}), 1e-11);
  more::expect("polyfit.two/f64/out", nax::polyfit(x, more::record("polyfit.two/f64/in1"), 2), 1e-11);
  more::expect("polyfit.cov/f64/out", nax::polyfit_cov(x, y, 2).V, 1e-11);
  more::expect("polyfit.unscaled/f64/out", nax::polyfit_cov(x, y, 2, {.unscaled = true}).V, 1e-11);
  // Two points do not determine a parabola; the result passes through them.
  const A two = nax::polyfit(A{1, 2}, A{3, 5}, 2);
  EXPECT_NEAR(nax::polyval(two, A{2}).item(), 5, 1e-12);
  EXPECT_EQ(two(0).item(), 0);
}

// High powers of numbers far from 0 need orthogonalisation twice.
TEST(Polyfit, IsAccurateFarFromZero) {
  const A x = nax::linspace<double>(1, 3, 40), p = {1, -2, 3, -4, 5, -6, 7, -8, 9};
  const A y = nax::polyval(p, x), found = nax::polyval(nax::polyfit(x, y, 8), x);
  const double scale = nax::max(nax::abs(y)).item();
  EXPECT_LT(nax::max(nax::abs(found - y)).item(), 1e-12 * scale);
}

TEST(Polynomials, RefuseInvalidArguments) {
  EXPECT_EQ(refusal([] { nax::polyadd(A{{1}}, A{1}); }),
            "polyadd: the coefficients must be 1-d, shape (1, 1)");
  EXPECT_EQ(refusal([] { nax::polymul(nax::zeros<double>({0}), A{1}); }),
            "polymul: the polynomials must not be empty, shapes (0,) (1,)");
  EXPECT_EQ(refusal([] {
              nax::polyder(A{1, 2}, -1);
            }),
            "polyder: the order of the derivative must not be negative, got -1");
  EXPECT_EQ(refusal([] {
              nax::polyint(A{1, 2}, {.m = 2, .k = A{1, 2, 3}});
            }),
            "polyint: k must be one constant or 2, got 3");
  EXPECT_EQ(refusal([] {
              nax::poly(A{{1, 2}});
            }),
            "poly: input must be 1-d or a square matrix, shape (1, 2)");
  EXPECT_EQ(refusal([] { nax::vander(A{1}, {.N = -1}); }), "vander: N must not be negative, got -1");
  EXPECT_EQ(refusal([] { nax::polyfit(A{1, 2}, A{1, 2}, -1); }), "polyfit: expected deg >= 0, got -1");
  EXPECT_THROW(nax::polyfit(A{1, 2}, A{1, 2, 3}, 1), nax::TypeError);
  EXPECT_THROW(nax::polyfit_cov(A{1, 2}, A{1, 2}, 1), nax::ValueError);
  EXPECT_EQ(
      nax::polymul(nax::Array<int>{0, 1, 2}, nax::Array<int>{1, 1}, {.trim_leading_zeros = true}).to_vector(),
      (std::vector<int>{1, 3, 2}));
  EXPECT_EQ(nax::polydiv(A{1, 2, 3}, A{1, 1}, {.trim_leading_zeros = true}).r.to_vector(),
            std::vector<double>{2});
  EXPECT_EQ(nax::polyder(nax::Array<int>{3, 2, 1}).to_vector(), (std::vector<int>{6, 2}));
}

}  // namespace polynomials_test
