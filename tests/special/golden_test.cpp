// Special functions against mpmath's 50 digits, and against SciPy at the ends of their domains.

#include <functional>
#include <nax/nax.hpp>

#include "elementwise/support.hpp"
#include "support/expect_close.hpp"

namespace golden_test {

using elementwise::array_of, elementwise::numbers;
using nax::Array;
using Real = Array<double>;
using Reals = std::vector<Real>;
namespace sp = nax::special;

using Call = Real (*)(const Reals&);
#define ONE(name)                                                \
  {                                                              \
#name, [](const Reals& x) -> Real { return sp::name(x[0]); } \
  }
#define TWO(name)                                                      \
  {                                                                    \
#name, [](const Reals& x) -> Real { return sp::name(x[0], x[1]); } \
  }
#define THREE(name)                                                          \
  {                                                                          \
#name, [](const Reals& x) -> Real { return sp::name(x[0], x[1], x[2]); } \
  }

// The derivative of a function of several arrays by one of them, elementwise.
Real slope(Call f, Reals x, std::size_t by) {
  const Real at = x[by];
  return nax::grad([&](const Real& a) {
    x[by] = a;
    return nax::sum(f(x));
  })(at);
}

const std::map<std::string, Call> functions = {
    TWO(gammainc),
    TWO(gammaincc),
    ONE(gammasgn),
    TWO(poch),
    TWO(beta),
    TWO(betaln),
    THREE(betainc),
    TWO(comb),
    ONE(factorial),
    ONE(erfcx),
    ONE(dawsn),
    ONE(log_ndtr),
    ONE(ndtri),
    TWO(owens_t),
    ONE(i0),
    ONE(i0e),
    ONE(i1),
    ONE(i1e),
    TWO(expn),
    ONE(exp1),
    ONE(expi),
    ONE(spence),
    TWO(zeta),
    TWO(polygamma),
    THREE(hyp1f1),
    TWO(kl_div),
    TWO(rel_entr),
    TWO(boxcox),
    TWO(boxcox1p),
    {"hyp2f1", [](const Reals& x) -> Real { return sp::hyp2f1(x[0], x[1], x[2], x[3]); }},
    {"sine_integral", [](const Reals& x) -> Real { return sp::sici(x[0]).si; }},
    {"cosine_integral", [](const Reals& x) -> Real { return sp::sici(x[0]).ci; }},
    {"multigammaln", [](const Reals& x) -> Real { return sp::multigammaln(x[0], 3); }},
    {"gammainc_da",
     [](const Reals& x) {
       return slope([](const Reals& a) -> Real { return sp::gammainc(a[0], a[1]); }, x, 0);
     }},
    {"riemann", [](const Reals& x) -> Real { return sp::zeta(x[0]); }},
    {"riemann_ds",
     [](const Reals& x) { return slope([](const Reals& a) -> Real { return sp::zeta(a[0]); }, x, 0); }},
    {"zeta_ds",
     [](const Reals& x) { return slope([](const Reals& a) -> Real { return sp::zeta(a[0], a[1]); }, x, 0); }},
};

TEST(SpecialFunctions, AreFullyAccurate) {
  const auto& all = golden::goldens("special");
  for (const auto& [name, f] : functions)
    for (const char* tag : {"", ".ends", ".large"}) {
      const std::string record = name + tag + "/f64";
      if (!all.count(record + "/out")) {
        EXPECT_NE(tag[0], '\0') << "no record of " << name;
        continue;
      }
      Reals x;
      for (int i = 0; all.count(record + "/in" + std::to_string(i)); ++i)
        x.push_back(array_of<double>(golden::get("special", record + "/in" + std::to_string(i))));
      support::expect_close(record, numbers(f(x)), golden::get("special", record + "/out").values, 1e-12,
                            1e-300);
    }
}

TEST(SpecialFunctions, ComplexLog1pNearItsBranchPoint) {
  using C = std::complex<double>;
  const auto z = array_of<C>(golden::get("special", "log1p/c128/in0"));
  support::expect_close("log1p", numbers(Array<C>(nax::log1p(z))),
                        golden::get("special", "log1p/c128/out").values, 1e-15, 1e-300);
  const auto narrow = z.astype<std::complex<float>>()(nax::Array<int>{0, 4, 5, 6});
  for (const auto& one : Array<std::complex<float>>(nax::log1p(narrow)).to_vector()) {
    EXPECT_TRUE(std::isfinite(one.real()));
    EXPECT_GT(std::abs(one.imag()), 0.4f);
  }
}

// Beyond what double holds, and where cancellation leaves too few digits, the answer says so.
TEST(SpecialFunctions, HypergeometricFunctionsRefuseWhatCancels) {
  EXPECT_TRUE(std::isnan(Real(sp::hyp1f1(-869.1, -4.93, Real(105.5))).item()));
  EXPECT_TRUE(std::isnan(Real(sp::hyp2f1(-56.0, 54.03, 48.07, Real(0.938))).item()));
  EXPECT_EQ(Real(sp::zeta(Real{1e10}, 30.0)).item(), 0);
  EXPECT_EQ(Real(sp::polygamma(1e10, Real{30})).item(), -std::numeric_limits<double>::infinity());
}

TEST(SpecialFunctions, BesselFunctionsAlongANewAxis) {
  const auto& v = golden::get("special", "bessel_j/f64/in0");
  const Real x = array_of<double>(golden::get("special", "bessel_j/f64/in1"));
  const auto& want = golden::get("special", "bessel_j/f64/out");
  const Real all = sp::bessel_jn(x, {.v = 10});
  EXPECT_EQ(all.shape(), (nax::Shape{11, x.shape(0)}));
  for (std::size_t i = 0; i < want.values.size(); ++i)
    EXPECT_NEAR(all(static_cast<int>(v.values[i]), static_cast<int>(i)).item(), want.values[i], 1e-14);
  EXPECT_THROW(sp::bessel_jn(x, {.v = -1}), nax::ValueError);
  EXPECT_EQ(sp::bessel_jn(1.0, {.v = 2}).shape(), nax::Shape{3});
}

TEST(SpecialFunctions, BernoullisNumbers) {
  support::expect_close("bernoulli", numbers(sp::bernoulli<double>(39)),
                        golden::get("special", "bernoulli/f64/out").values, 1e-14, 1e-300);
  EXPECT_EQ(sp::bernoulli(0).to_vector(), std::vector<float>{1});
  EXPECT_THROW(sp::bernoulli(-1), nax::ValueError);
}

TEST(SpecialFunctions, TypesAndForms) {
  const Array<float> x = {0.5f, 1.5f};
  static_assert(std::is_same_v<decltype(nax::eval(sp::gammainc(2, x))), Array<float>>);
  static_assert(std::is_same_v<decltype(nax::eval(sp::i0(Array<int>{1}))), Array<float>>);
  static_assert(std::is_same_v<decltype(nax::eval(sp::ndtri(Array<nax::half>{0.5f}))), Array<nax::half>>);
  EXPECT_FLOAT_EQ(nax::eval(sp::gammainc(2, x))(0).item(), 0.090204010431f);
  EXPECT_DOUBLE_EQ(nax::i0(Real{1.0})(0).item(), 1.2660658777520084);
  EXPECT_NEAR(Real(sp::zeta(Real(2.0))).item(), 1.6449340668482264, 1e-15);
  EXPECT_FLOAT_EQ(Array<float>(sp::betainc(2, 3, x * 0.5f))(0).item(), 0.26171875f);
  EXPECT_EQ(sp::comb(Real{5}, Real{3}, {.repetition = true})(0).item(), 35);
  EXPECT_EQ(sp::comb(Real{0, 0, 1, 2.5}, Real{0, 1, 0, 0}, {.repetition = true}).to_vector(),
            (std::vector<double>{1, 0, 1, 1}));  // SciPy's
  EXPECT_EQ(Real(sp::comb(Real{10, 3}, 5.0)).to_vector(), (std::vector<double>{252, 0}));
  EXPECT_TRUE(std::isnan(Real(sp::loggamma(Real(-0.5))).item()));
  EXPECT_EQ(Real(sp::gammainc(nax::zeros<double>({0, 3}), nax::ones<double>({3}))).shape(),
            (nax::Shape{0, 3}));
}

// Parameters without a derivative throw under grad and jvp, and are constants otherwise.
TEST(SpecialFunctions, ParametersThatAreNotDifferentiated) {
  const auto refused = [](auto f) {
    try {
      nax::grad([&](const Real& p) { return nax::sum(f(p)); })(Real{0.5, 0.7});
    } catch (const nax::ValueError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string rest = "; pass stop_gradient of it if it is meant to be a constant";
  EXPECT_EQ(refused([](const Real& p) { return sp::betainc(p, 2.0, 0.5); }),
            "betainc: not differentiable with regard to a" + rest);
  EXPECT_EQ(refused([](const Real& p) { return sp::betainc(2.0, p * 2, 0.5); }),
            "betainc: not differentiable with regard to b" + rest);
  EXPECT_EQ(refused([](const Real& p) { return sp::hyp1f1(1.0, p, 0.5); }),
            "hyp1f1: not differentiable with regard to b" + rest);
  EXPECT_EQ(refused([](const Real& p) { return sp::hyp2f1(1.0, 2.0, p, 0.5); }),
            "hyp2f1: not differentiable with regard to c" + rest);
  EXPECT_EQ(refused([](const Real& p) { return sp::expn(p, 0.5); }),
            "expn: not differentiable with regard to n" + rest);
  EXPECT_EQ(refused([](const Real& p) { return sp::betainc(nax::stop_gradient(p), 2.0, p); }), "");
}

// As SciPy has them: infinities of the sign of zeta's factor.
TEST(SpecialFunctions, PolygammaAtPoles) {
  const double inf = std::numeric_limits<double>::infinity();
  const Real poles = {0, -0., -1, -2, -7, -20000, -inf};
  const auto expect_all = [](const auto& got, double want) {
    for (const auto v : got.to_vector()) EXPECT_EQ(static_cast<double>(v), want);
  };
  for (const int n : {1, 3, 5}) expect_all(Real(sp::polygamma(n, poles)), inf);
  for (const int n : {2, 4, 6}) expect_all(Real(sp::polygamma(n, poles)), -inf);
  expect_all(nax::jit([](const Real& x) { return Real(sp::polygamma(2, x)); })(poles), -inf);
  expect_all(Array<float>(sp::polygamma(2, poles.astype<float>())), -inf);
  expect_all(Array<nax::half>(sp::polygamma(2, Array<nax::half>{0.f, -3.f})), -inf);
  expect_all(nax::grad([](const Real& x) { return Real(nax::sum(sp::polygamma(1, x))); })(Real{0, -3}), -inf);
  EXPECT_TRUE(std::isnan(Real(sp::polygamma(2, Real(-20000.5))).item()));
}

// By mpmath.
TEST(SpecialFunctions, SlopesOfLogNdtrFarBelow) {
  const auto total = [](const Real& x) { return Real(nax::sum(sp::log_ndtr(x))); };
  const Real x = {-1e10, -100, -5, 3},
             want = {1e10, 100.00999800099926, 5.186503967125842, 0.004437839042125664};
  EXPECT_TRUE(nax::allclose(nax::grad(total)(x), want, {.rtol = 1e-14}).item());
  EXPECT_TRUE(nax::allclose(nax::jit(nax::grad(total))(x), want, {.rtol = 1e-14}).item());
  const auto of_float = [](const Array<float>& v) { return Array<float>(nax::sum(sp::log_ndtr(v))); };
  EXPECT_NEAR(Array<float>(nax::grad(of_float)(Array<float>{-100})).item(), 100.01, 1e-4);
  // d(dx) = -d (x + d)
  const Real second = nax::grad([&](const Real& v) { return Real(nax::sum(nax::grad(total)(v))); })(Real{-5});
  EXPECT_NEAR(second.item(), -5.186503967125842 * (-5 + 5.186503967125842), 1e-10);
}

}  // namespace golden_test

#undef ONE
#undef TWO
#undef THREE
