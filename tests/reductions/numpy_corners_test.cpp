// Corner cases with surprising results, against NumPy's values.

#include <cmath>
#include <complex>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/polynomials/polynomial.hpp"
#include "nax/numpy/reductions/nan_reductions.hpp"
#include "nax/numpy/sequences/interpolate.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/statistics/covariance.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"
#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace numpy_corners_test {

using A = nax::Array<double>;
const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();

void expect(const A& got, const A& want, double tolerance = 1e-8) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  support::expect_close("", got.to_vector(), want.to_vector(), tolerance, 1);
}
std::string shape_of(const A& x) { return nax::to_string(x.shape()); }

TEST(NumpyCorners, QuantilesOfFractionsOfAnyRank) {
  const A x = {{0, 1, 2.82842712, 5.19615242},
               {8, 11.18033989, 14.69693846, 18.52025918},
               {22.627417, 27, 31.6227766, 36.48287269}};
  const A q = {{0.1, 0.5}, {0.25, 0.9}, {0, 1}};
  expect(nax::quantile(x, q), A{{1.18284271, 12.93863917}, {4.6042211, 31.16049894}, {0, 36.48287269}}, 1e-7);
  expect(nax::percentile(x, q * 100.0), nax::quantile(x, q));
  expect(nax::nanquantile(x, q, {.axis = 0})(1),
         A{{4, 6.09016994, 8.76268279, 11.8582058}, {19.7019336, 23.83606798, 28.23760897, 32.89034999}},
         1e-7);
  EXPECT_EQ(shape_of(nax::quantile(x, q, {.axis = 1})), "(3, 2, 3)");
  EXPECT_EQ(shape_of(nax::quantile(x, q, {.axis = 1, .keepdims = true})), "(3, 2, 3, 1)");
  EXPECT_EQ(shape_of(nax::quantile(x, q, {.keepdims = true})), "(3, 2, 1, 1)");
  EXPECT_EQ(shape_of(nax::quantile(x, A(0.5))), "()");
  EXPECT_EQ(shape_of(nax::quantile(x, A(0.5), {.axis = 0, .keepdims = true})), "(1, 4)");
  EXPECT_EQ(shape_of(nax::quantile(x, nax::zeros<double>({0}), {.axis = 1})), "(0, 3)");
  EXPECT_EQ(shape_of(nax::quantile(x, nax::zeros<double>({2, 0}), {.axis = 1})), "(2, 0, 3)");
  expect(nax::vmap([&](const A& row) { return nax::quantile(row, q); })(x)(1), nax::quantile(x(1), q));
}

TEST(NumpyCorners, QuantileMethodsAtWholePlaces) {
  const A fractions = {0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1};
  const A ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, five = {1, 2, 3, 4, 5}, four = {1, 2, 3, 4};
  const A of_ten = {1, 1.5, 2.5, 3, 3.5, 4.5, 5.5, 6.5, 7.5, 8, 8.5, 9.5, 10};
  const A of_five = {1, 1, 1.5, 2, 2, 2.5, 3, 3.5, 4, 4, 4.5, 5, 5};
  const A of_four = {1, 1, 1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4, 4, 4};
  const nax::QuantileOptions averaged{.method = "averaged_inverted_cdf"};
  expect(nax::quantile(ten, fractions, averaged), of_ten);
  expect(nax::quantile(five, fractions, averaged), of_five);
  expect(nax::quantile(four, fractions, averaged), of_four);
  // Of floats n q is whole where it is in float.
  const auto few = fractions.astype<float>();
  expect(nax::quantile(ten, few, averaged), of_ten);
  expect(nax::quantile(five.astype<float>(), few, averaged).astype<double>(), of_five);
  expect(nax::nanquantile(ten, few, averaged), of_ten);
  expect(nax::quantile(ten, few, {.method = "inverted_cdf"}), A{1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 10});
  expect(nax::percentile(five, nax::Array<int>{0, 20, 60}, averaged), A{1, 1.5, 3.5});
  expect(nax::quantile(ten, 0.3, averaged), A(3.5));
  expect(nax::quantile(ten, 0.3f, averaged), A(3.5));
}

TEST(NumpyCorners, NanvarWithoutFreedomIsNaN) {
  const A x = {{1, nan, nan}, {1, 2, nan}, {nan, nan, nan}, {1, 2, 4}};
  const auto var = [&](double ddof) { return nax::nanvar(x, {.axis = 1, .ddof = ddof}); };
  expect(var(0), A{0, 0.25, nan, 1.55555556});
  expect(var(1), A{nan, 0.5, nan, 2.33333333});
  expect(var(2), A{nan, nan, nan, 4.66666667});
  expect(var(3), A{nan, nan, nan, nan});
  expect(var(7), A{nan, nan, nan, nan});
  expect(nax::nanstd(x, {.axis = 1, .ddof = 2}), A{nan, nan, nan, 2.1602469});
  expect(nax::nanvar(x, {.axis = 1, .keepdims = true, .correction = 2}),
         A{{nan}, {nan}, {nan}, {4.66666667}});
  // Of var NumPy divides by 0, not by less.
  expect(nax::var(A{{1, 2}, {3, 4}}, {.axis = 1, .ddof = 3}), A{inf, inf});
  const nax::Array<bool> first = {{true, true}, {true, false}};
  expect(nax::var(A{{1, 2}, {3, 4}}, {.axis = 1, .ddof = 3, .where = first}), A{inf, nan});
}

TEST(NumpyCorners, DigitizeSortsNaNLast) {
  const A x = {0, 1, 1.5, 2, 3, nan};
  const struct {
    A bins;
    A left, right;
  } rows[] = {{{1, 2, nan}, {0, 1, 1, 2, 2, 3}, {0, 0, 1, 1, 2, 2}},
              {{nan, nan}, {2, 2, 2, 2, 2, 0}, {2, 2, 2, 2, 2, 2}},
              {{0, nan}, {0, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 0}},
              {{nan, 1}, {2, 1, 1, 1, 1, 0}, {2, 2, 1, 1, 1, 1}},
              {{3, 2, nan}, {3, 3, 3, 1, 0, 0}, {3, 3, 3, 3, 1, 0}},
              {{3, 2, 1}, {3, 2, 2, 1, 0, 0}, {3, 3, 2, 2, 1, 0}},
              {{nan, 3, 2}, {3, 3, 3, 2, 1, 0}, {3, 3, 3, 3, 2, 1}}};
  for (const auto& [bins, left, right] : rows) {
    SCOPED_TRACE(&bins - &rows[0].bins);
    expect(nax::digitize(x, bins).astype<double>(), left);
    expect(nax::digitize(x, bins, {.right = true}).astype<double>(), right);
  }
  const A many = {{1, 2, nan}, {3, 2, 1}, {3, 2, nan}};
  const auto mapped = nax::vmap([&](const A& bins) { return nax::digitize(x, bins); })(many);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mapped(i).to_vector(), nax::digitize(x, A(many(i))).to_vector()) << i;
}

TEST(NumpyCorners, InterpWithAPeriod) {
  const A x = {-180, -170, -185, 185, -10, -5, 0, 365, nan}, xp = {190, -190, 350, -350}, fp = {5, 10, 3, 4};
  expect(nax::interp(x, xp, fp, {.period = 360}), A{7.5, 5, 8.75, 6.25, 3, 3.25, 3.5, 3.75, nan});
  expect(nax::interp(A{1, 2}, A{0, 1}, A{5, 10}, {.period = -3}), A{10, 7.5});
  expect(nax::interp(A{-1, 2}, A{0, 1}, A{5, 10}, {.left = -7, .right = 8, .period = 3}), A{7.5, 7.5});
  expect(nax::interp(A{-1, 2}, A{0.5}, A{5}, {.period = 3}), A{5, 5});
  EXPECT_EQ(refusal([&] { nax::interp(x, xp, fp, {.period = 0}); }), "interp: the period must not be 0");
  const A at = {0.3, 1.7, -2.2}, points = {2.5, 0.5, 1}, values = {1, 3, 2}, w = {1, 2, 3};
  const auto loss = [&](const A& a, const A& b, const A& c) {
    return nax::sum(nax::interp(a, b, c, {.period = 3}) * w);
  };
  const auto [dx, dxp, dfp] = nax::grad<0, 1, 2>(loss)(at, points, values);
  expect(dx, A{2, -1.33333333, -6});
  expect(dxp, A{0.22222222, 0.8, 4.31111111});
  expect(dfp, A{1.13333333, 2, 2.86666667});
}

TEST(NumpyCorners, PolydivTrimsItsRemainder) {
  const auto rest = [](const A& u, const A& v) { return nax::polydiv(u, v, {.trim_leading_zeros = true}).r; };
  expect(rest({1, 5, 6}, {1, 2}), A{0});
  expect(rest({1, 5, 6}, {1, 1}), A{2});
  expect(rest({0, 2}, {1, 2, 3}), A{2});
  expect(rest({1, 0, 0, 0, 1}, {1, 0, 1}), A{2});
  const A rounded = rest({0.1, 0.3, 0.2}, {0.1, 0.2});
  EXPECT_EQ(shape_of(rounded), "(1,)");
  EXPECT_EQ(shape_of(rest({1, 3, 3.5, 1.5 + 1e-9}, {1, 1, 1e-9})), "(2,)");
  // A first coefficient of rounding alone goes.
  EXPECT_EQ(shape_of(rest({0.1, 0.3, 0.5, 0.7}, {0.1, 0.2, 0.3})), "(1,)");
  EXPECT_EQ(shape_of(nax::polydiv(A{1, 5, 6}, A{1, 2}).r), "(3,)");
}

// By np.cov: variances of complex numbers are divided as those of real ones are, by 0 at least.
TEST(NumpyCorners, CovarianceOfComplexNumbers) {
  using Number = std::complex<double>;
  using C = nax::Array<Number>;
  const C m = {{Number(1, 2), Number(3, -1), Number(0, 0.5), Number(2)},
               {Number(2), Number(0, 1), Number(3, 1), Number(-1, -1)}};
  const auto check = [&](const nax::CovOptions<Number>& options, const std::vector<Number>& want) {
    const std::vector<Number> got = nax::cov(m, options).reshape({-1}).to_vector();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LT(std::abs(got[i] - want[i]), 1e-14) << i;
  };
  check({}, {3.2291666666666665, {-2.2916666666666665, 1.5}, {-2.2916666666666665, -1.5}, 4.25});
  check({.ddof = 0}, {2.421875, {-1.71875, 1.125}, {-1.71875, -1.125}, 3.1875});
  check({.ddof = 3}, {9.6875, {-6.875, 4.5}, {-6.875, -4.5}, 12.75});
  const A weights = {1, 2, .5, 1}, times = {1, 2, 1, 1};
  check({.aweights = weights}, {3.5714285714285716,
                                {-2.196428571428571, 1.1607142857142856},
                                {-2.196428571428571, -1.1607142857142854},
                                3.5714285714285716});
  check({.fweights = times, .aweights = weights},
        {2.8515624999999996, {-1.7421875, 0.7109375}, {-1.7421875, -0.7109375}, 2.46875});
  for (const double ddof : {4., 5., 6.}) {
    const std::vector<Number> none = nax::cov(m, {.ddof = ddof}).reshape({-1}).to_vector();
    EXPECT_EQ(none[0].real(), inf);
    EXPECT_EQ(none[1].real(), -inf);
    EXPECT_EQ(none[1].imag(), inf);
    EXPECT_EQ(nax::cov(m, {.ddof = ddof, .aweights = weights})(1, 1).item().real(), inf);
  }
}

// Chosen elements of half types are summed and counted in float, as all of them are.
TEST(NumpyCorners, MeanOfChosenHalfs) {
  using H = nax::Array<nax::half>;
  const nax::Array<bool> where = {true, true, false};
  const H x = A({60000, 60000, 1}).astype<nax::half>(), y = A({60000, 60000, nan}).astype<nax::half>();
  EXPECT_EQ(static_cast<float>(H(nax::mean(x, {.where = where})).item()), 60000);
  EXPECT_EQ(static_cast<float>(H(nax::nanmean(y)).item()), 60000);
  const auto ones = nax::ones<nax::bfloat16>({301});
  EXPECT_EQ(static_cast<float>(nax::mean(ones, {.where = nax::full({301}, true)}).item()), 1);
  const auto loss = [&](const H& h) { return H(nax::mean(h, {.where = where})); };
  expect(nax::grad(loss)(x).astype<double>(), {.5, .5, 0}, 1e-3);
  expect(H(nax::vmap(loss)(nax::stack({x, x}))).astype<double>(), {60000, 60000});
}

}  // namespace numpy_corners_test
