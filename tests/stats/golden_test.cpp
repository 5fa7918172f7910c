// Distributions against SciPy's, with arrays as loc and scale.

#include <nax/nax.hpp>

#include "elementwise/support.hpp"
#include "support/expect_close.hpp"
#include "support/text_of.hpp"

namespace golden_test {

using elementwise::array_of, elementwise::numbers;
using nax::Array;
using Real = Array<double>;
namespace st = nax::stats;

template <std::size_t... i, class F>
void check(const std::string& name, std::index_sequence<i...>, const F& f, double scale = 0.01) {
  const std::string record = name + "/f64";
  ASSERT_TRUE(golden::goldens("stats").count(record + "/in" + std::to_string(sizeof...(i) - 1))) << name;
  const auto in = [&](std::size_t k) {
    return array_of<double>(golden::get("stats", record + "/in" + std::to_string(k)));
  };
  const auto& want = golden::get("stats", record + "/out");
  const Real got = f(in(i)...);
  EXPECT_EQ(got.shape(), nax::Shape(want.shape)) << name;
  support::expect_close(name, numbers(got), want.values, 1e-12, scale);
}
#define OF0(distribution, function)                                           \
  check(#distribution "." #function, std::make_index_sequence<3>(),           \
        [](const Real& x, const Real& loc, const Real& scale) -> Real {       \
          return st::distribution::function(x, {.loc = loc, .scale = scale}); \
        })
#define OF1(distribution, function)                                                    \
  check(#distribution "." #function, std::make_index_sequence<4>(),                    \
        [](const Real& x, const Real& a, const Real& loc, const Real& scale) -> Real { \
          return st::distribution::function(x, a, {.loc = loc, .scale = scale});       \
        })
#define OF2(distribution, function)                                                                   \
  check(#distribution "." #function, std::make_index_sequence<5>(),                                   \
        [](const Real& x, const Real& a, const Real& b, const Real& loc, const Real& scale) -> Real { \
          return st::distribution::function(x, a, b, {.loc = loc, .scale = scale});                   \
        })
#define EVERY(of, distribution)                                                                     \
  of(distribution, logpdf), of(distribution, pdf), of(distribution, cdf), of(distribution, logcdf), \
      of(distribution, sf), of(distribution, logsf)

TEST(Stats, LocationsAndScales) {
  EVERY(OF0, norm), OF0(norm, ppf), OF0(norm, isf);
  EVERY(OF0, expon), OF0(expon, ppf);
  OF0(uniform, logpdf), OF0(uniform, pdf), OF0(uniform, cdf), OF0(uniform, ppf);
  OF0(laplace, logpdf), OF0(laplace, pdf), OF0(laplace, cdf);
  OF0(logistic, logpdf), OF0(logistic, pdf), OF0(logistic, cdf), OF0(logistic, sf), OF0(logistic, ppf),
      OF0(logistic, isf);
  EVERY(OF0, cauchy), OF0(cauchy, ppf), OF0(cauchy, isf);
  EVERY(OF0, gumbel_r), OF0(gumbel_r, ppf);
  EVERY(OF0, gumbel_l), OF0(gumbel_l, ppf);
}
TEST(Stats, Shapes) {
  EVERY(OF1, gamma);
  EVERY(OF1, chi2);
  OF1(t, logpdf), OF1(t, pdf);
  EVERY(OF1, pareto), OF1(pareto, ppf);
  EVERY(OF2, beta);
}

// Where probabilities round to 1 or underflow.
#define TAIL(count, distribution, function)                                   \
  check(                                                                      \
      #distribution "." #function ".tail", std::make_index_sequence<count>(), \
      [](const auto&... x) -> Real { return st::distribution::function(x...); }, 1e-300)
TEST(Stats, Tails) {
  TAIL(1, expon, logcdf), TAIL(2, pareto, logcdf), TAIL(1, gumbel_r, logsf), TAIL(1, gumbel_l, logcdf);
  TAIL(1, cauchy, logcdf), TAIL(1, cauchy, logsf), TAIL(1, cauchy, logpdf), TAIL(1, cauchy, ppf);
  TAIL(2, t, logpdf), TAIL(2, gamma, logsf), TAIL(2, gamma, logcdf), TAIL(2, chi2, logsf),
      TAIL(2, chi2, logcdf);
  TAIL(3, beta, logcdf), TAIL(3, beta, logsf);
  const Real q{-0.1, 1.1};
  EXPECT_TRUE(std::isnan(Real(st::cauchy::ppf(q))(0).item()) &&
              std::isnan(Real(st::cauchy::isf(q))(1).item()));
  EXPECT_EQ(Real(st::gamma::logsf(Real{INFINITY}, 5.)).item(), -INFINITY);
}
#undef TAIL

#define DISCRETE1(distribution, function)                           \
  check(#distribution "." #function, std::make_index_sequence<3>(), \
        [](const Real& k, const Real& a, const Real& loc) -> Real { \
          return st::distribution::function(k, a, {.loc = loc});    \
        })
#define DISCRETE2(distribution, function)                                          \
  check(#distribution "." #function, std::make_index_sequence<4>(),                \
        [](const Real& k, const Real& a, const Real& b, const Real& loc) -> Real { \
          return st::distribution::function(k, a, b, {.loc = loc});                \
        })
#define PLAIN(name, count, ...) \
  check(name, std::make_index_sequence<count>(), [](const auto&... x) -> Real { return __VA_ARGS__(x...); })

TEST(Stats, Counts) {
  DISCRETE1(poisson, logpmf), DISCRETE1(poisson, pmf), DISCRETE1(poisson, cdf);
  DISCRETE2(binom, logpmf), DISCRETE2(binom, pmf);
  DISCRETE2(nbinom, logpmf), DISCRETE2(nbinom, pmf);
  DISCRETE1(geom, logpmf), DISCRETE1(geom, pmf);
  DISCRETE1(bernoulli, logpmf), DISCRETE1(bernoulli, pmf);
  PLAIN("bernoulli.cdf", 2, st::bernoulli::cdf), PLAIN("bernoulli.ppf", 2, st::bernoulli::ppf);
}
TEST(Stats, Vectors) {
  PLAIN("dirichlet.logpdf", 2, st::dirichlet::logpdf), PLAIN("dirichlet.pdf", 2, st::dirichlet::pdf);
  PLAIN("multivariate_normal.logpdf", 3, st::multivariate_normal::logpdf);
  PLAIN("multivariate_normal.pdf", 3, st::multivariate_normal::pdf);
  PLAIN("multivariate_normal.number", 3, st::multivariate_normal::logpdf);
  EXPECT_EQ(text_of<nax::ShapeError>([] {
              st::dirichlet::logpdf(Real{0.5, 0.5}, Real{{1.0}});
            }),
            "dirichlet: alpha must be one-dimensional, shape (1, 1)");
  EXPECT_EQ(
      text_of<nax::ShapeError>([] {
        st::dirichlet::logpdf(Real{0.5, 0.5}, Real{1, 2, 3, 4});
      }),
      "dirichlet: x must have as many entries as alpha or one fewer along its first axis: (2,) and (4,)");
  EXPECT_EQ(text_of<nax::ShapeError>([] {
              st::multivariate_normal::logpdf(Real{1, 2}, Real{0, 0}, nax::eye<double>(3));
            }),
            "multivariate_normal: incompatible shapes: x (2,), mean (2,), cov (3, 3)");
}

// SciPy's values; where an x is 0 whose alpha is below 1, which SciPy refuses, JAX's.
TEST(Stats, EdgesOfSupports) {
  const double inf = INFINITY;
  const Real k{1.5, NAN, 2, inf, -inf, -1, 0};
  const auto is = [](const char* name, const Real& got, const std::vector<double>& want) {
    support::expect_close(name, got.to_vector(), want, 1e-12, 0.01);
  };
  is("binom", st::binom::logpmf(k, 3, .5),
     {-inf, NAN, -0.9808292530117262, -inf, -inf, -inf, -2.0794415416798357});
  is("geom", st::geom::logpmf(k, .5), {-inf, NAN, -1.3862943611198906, -inf, -inf, -inf, -inf});
  is("nbinom", st::nbinom::logpmf(k, 3, .5),
     {-inf, NAN, -1.6739764335716716, NAN, -inf, -inf, -2.0794415416798357});
  is("poisson", st::poisson::logpmf(k, 2), {-inf, NAN, -1.3068528194400546, NAN, -inf, -inf, -2});
  is("bernoulli", st::bernoulli::logpmf(k, .3), {-inf, NAN, -inf, -inf, -inf, -inf, -0.35667494393873245});
  is("t", st::t::logpdf(Real{1, -3, 2, NAN}, Real{inf, inf, 3, inf}, {.loc = 1, .scale = 2}),
     {-1.612085713764618, -3.612085713764618, -1.8541214455305277, NAN});
  const Real x{{1, 1, 1, .5}, {0, 0, 0, .5}};
  is("dirichlet", st::dirichlet::logpdf(x, Real{2, 1}),
     {0.6931471805599453, 0.6931471805599453, 0.6931471805599453, 0});
  is("dirichlet", st::dirichlet::logpdf(x, Real{1, 2}), {-inf, -inf, -inf, 0});
  is("dirichlet", st::dirichlet::logpdf(Real{1, 0}, Real{1, .5}), {-inf});
}

TEST(Stats, OperandsOfAllKinds) {
  const Real mu = {0.5, -0.5};
  const Array<float> x = {0.25f, 1.f};
  // Numbers, integers, expressions; a float where all are numbers.
  static_assert(std::is_same_v<decltype(st::norm::logpdf(0.5)), Array<float>>);
  static_assert(std::is_same_v<decltype(st::norm::cdf(Array<int>{1})), Array<float>>);
  static_assert(std::is_same_v<decltype(st::gamma::pdf(x, 2.0, {.scale = 2})), Array<float>>);
  EXPECT_NEAR(st::norm::logpdf(0.5, {.loc = 1, .scale = 2}).item(), -1.6433358f, 1e-6f);
  EXPECT_EQ(st::norm::cdf(x, {.loc = x}).to_vector(), (std::vector<float>{0.5f, 0.5f}));
  EXPECT_EQ(st::norm::cdf(mu, {.loc = mu * 1, .scale = x}).to_vector(), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(st::poisson::pmf(Array<int>{0, 1}, 1).shape(), nax::Shape{2});
  EXPECT_EQ(st::norm::pdf(nax::zeros<double>({0, 2}), {.loc = mu}).shape(), (nax::Shape{0, 2}));
  EXPECT_EQ(text_of<nax::TypeError>([&] { st::norm::cdf(x, {.loc = mu}); }),
            "stats: loc is of type float64, the operands make float32; convert one of them");
  EXPECT_EQ(text_of<nax::ShapeError>([&] {
              st::norm::cdf(mu, {.loc = Real{1, 2, 3}});
            }),
            "subtract: operands could not be broadcast together with shapes (2,) (3,)");
}

// The gradient of a likelihood reaches arrays in the options.
TEST(Stats, GradientsThroughOptions) {
  const Real x = {0.3, -0.8, 1.9};
  const auto loss = [&](const Real& loc, const Real& scale) {
    return -nax::sum(st::norm::logpdf(x, {.loc = loc * 1, .scale = scale}));
  };
  const auto [g, h] = nax::grad<0, 1>(loss)(Real(0.5), Real(1.5));
  double mean = 0, square = 0;
  for (const double v : x.to_vector()) mean += v - 0.5, square += (v - 0.5) * (v - 0.5);
  EXPECT_NEAR(g.item(), -mean / 2.25, 1e-14);
  EXPECT_NEAR(h.item(), 3 / 1.5 - square / (1.5 * 1.5 * 1.5), 1e-14);
  // One location an example, under vmap.
  const Real locations = {0.5, 0, -1};
  const Real both = nax::vmap(
      [](const Real& v, const Real& loc) { return st::laplace::logpdf(v, {.loc = loc}); })(x, locations);
  EXPECT_EQ(both.to_vector(), st::laplace::logpdf(x, {.loc = locations}).to_vector());
}

// Derivatives at the ends of supports and where probabilities are 0 or 1.
template <class F>
double slope(const F& f, double x) {
  return nax::grad([&](const Real& v) -> Real { return f(v); })(Real(x)).item();
}
TEST(Stats, GradientsAtTheEnds) {
  EXPECT_EQ(slope([](const Real& x) { return st::gamma::logpdf(x, 1); }, 0), -1);
  EXPECT_EQ(slope([](const Real& x) { return st::gamma::pdf(x, 1); }, 0), -1);
  EXPECT_EQ(slope([](const Real& x) { return st::chi2::logpdf(x, 2); }, 0), -0.5);
  EXPECT_EQ(slope([](const Real& x) { return st::beta::logpdf(x, 1, 1); }, 0), 0);
  EXPECT_EQ(slope([](const Real& x) { return st::beta::logpdf(x, 1, 1); }, 1), 0);
  EXPECT_EQ(slope([](const Real& x) { return st::beta::logpdf(x, 2, 1); }, 1), 1);
  EXPECT_EQ(slope([](const Real& a) { return st::gamma::logpdf(0., a); }, 1), -INFINITY);
  for (const double x : {-1000., -100., -8.}) {
    EXPECT_EQ(slope([](const Real& v) { return st::gumbel_r::sf(v); }, x), 0) << x;
    EXPECT_EQ(slope([](const Real& v) { return st::gumbel_l::cdf(v); }, -x), 0) << x;
    EXPECT_EQ(Real(st::gumbel_r::sf(Real(x))).item(), 1) << x;
  }
  EXPECT_NEAR(slope([](const Real& v) { return st::gumbel_r::sf(v); }, -2), -0.0045662, 1e-6);
}

}  // namespace golden_test

#undef OF0
#undef OF1
#undef OF2
#undef EVERY
#undef DISCRETE1
#undef DISCRETE2
#undef PLAIN
