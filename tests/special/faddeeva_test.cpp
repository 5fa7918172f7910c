// The Faddeeva function, the Fresnel integrals and spherical harmonics against mpmath's 60 digits.

#include "nax/special/faddeeva.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/special/harmonics.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "support/expect_close.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace faddeeva_test {

namespace sp = nax::special;
using C = std::complex<double>;
using Real = nax::Array<double>;
using Complex = nax::Array<C>;

const golden::Golden& record(const std::string& name) { return golden::get("faddeeva", name); }
Real real_of(const std::string& name) { return nax::array(record(name).values); }
std::vector<C> numbers_of(const std::string& name) {
  const std::vector<double>& parts = record(name).values;
  std::vector<C> all;
  for (std::size_t i = 0; i < parts.size(); i += 2) all.emplace_back(parts[i], parts[i + 1]);
  return all;
}
Complex complex_of(const std::string& name) { return nax::array(numbers_of(name)); }

// Each part has full relative accuracy, or that of the modulus if it is smaller than the other part by more
// than `beside`.
void expect_parts(const std::string& name, const Complex& got, double tolerance, double beside = 0) {
  const std::vector<C> want = numbers_of(name), have = got.to_vector();
  ASSERT_EQ(have.size(), want.size()) << name;
  const auto same = [&](double a, double b, double whole) {
    if (std::isnan(b)) return std::isnan(a);
    return a == b || std::abs(a - b) <= tolerance * std::max(std::abs(b), beside * whole) + 1e-300;
  };
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(same(have[i].real(), want[i].real(), std::abs(want[i])) &&
                same(have[i].imag(), want[i].imag(), std::abs(want[i])))
        << name << " [" << i << "]: " << have[i] << " is not " << want[i];
}

TEST(Faddeeva, BothPartsAreAccurate) {
  expect_parts("wofz/c128/out", sp::wofz(complex_of("wofz/c128/in0")), 2e-13, 1e-12);
  expect_parts("wofz.ends/c128/out", sp::wofz(complex_of("wofz.ends/c128/in0")), 1e-14);
  const Complex z = complex_of("wofz_dz/c128/in0"), one = Complex(z * C(0) + C(1));
  const auto slope =
      nax::jvp([](const Complex& at) { return sp::wofz(at); }, std::tuple{z}, std::tuple{one}).second;
  // (2 i / sqrt(pi) - 2 z w, which cancels far out.)
  const std::vector<C> want = numbers_of("wofz_dz/c128/out"), got = slope.to_vector();
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(std::abs(got[i] - want[i]), 2e-12 * std::abs(want[i]) + 1e-15) << i;
}

TEST(Faddeeva, OfRealNumbersAndFloats) {
  const Complex of_real = sp::wofz(Real{0.5, -2});
  EXPECT_NEAR(std::abs(of_real(0).item() - C(0.77880078307140487, 0.4789251729010434)), 0, 1e-15);
  static_assert(std::is_same_v<decltype(sp::wofz(nax::Array<float>{1})), nax::Array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(sp::wofz(nax::Array<int>{1})), nax::Array<std::complex<float>>>);
  EXPECT_NEAR(
      std::abs(sp::wofz(nax::Array<float>{0.5f})(0).item() - std::complex<float>(0.7788008f, 0.47892517f)), 0,
      1e-6);
  EXPECT_EQ(sp::wofz(nax::zeros<double>({0, 2})).shape(), (nax::Shape{0, 2}));
  // d/dx of the real part, the Voigt profile's.
  const auto voigt = [](const Real& x) {
    return nax::sum(nax::real(sp::wofz(x.astype<C>() + Complex(C(0, 0.3)))));
  };
  const double h = 1e-5, at = 1.2;
  EXPECT_NEAR(nax::grad(voigt)(Real(at)).item(),
              (voigt(Real(at + h)).item() - voigt(Real(at - h)).item()) / (2 * h), 1e-9);
}

TEST(Fresnel, IntegralsAndTheirDerivatives) {
  for (const std::string tag : {"", ".ends"}) {
    const auto [s, c] = sp::fresnel(real_of("fresnel_s" + tag + "/f64/in0"));
    support::expect_close("S", s.to_vector(), record("fresnel_s" + tag + "/f64/out").values, 1e-14, 1e-300);
    support::expect_close("C", c.to_vector(), record("fresnel_c" + tag + "/f64/out").values, 1e-14, 1e-300);
  }
  const auto of_s = [](const Real& x) { return nax::sum(sp::fresnel(x).S); };
  const auto of_c = [](const Real& x) { return nax::sum(sp::fresnel(x).C); };
  const auto slopes_of_c = [&](const Real& x) { return nax::sum(nax::grad(of_c)(x)); };
  const Real x = real_of("fresnel_s_dx/f64/in0");
  support::expect_close("S'", nax::grad(of_s)(x).to_vector(), record("fresnel_s_dx/f64/out").values, 1e-13,
                        0.01);
  support::expect_close("C''", nax::grad(slopes_of_c)(x).to_vector(), record("fresnel_c_dxx/f64/out").values,
                        1e-13, 0.01);
  const auto [s, c] = sp::fresnel(nax::Array<float>{1.25f});
  EXPECT_FLOAT_EQ(s(0).item(), 0.65865551f);
  EXPECT_FLOAT_EQ(c(0).item(), 0.68009074f);
}

TEST(SphericalHarmonics, MatchMpmath) {
  const auto column = [](const std::string& name, int i) {
    return real_of(name + "/in" + std::to_string(i));
  };
  for (const std::string tag : {"", ".ends"}) {
    const std::string name = "sph_harm_y" + tag + "/c128";
    expect_parts(name + "/out",
                 sp::sph_harm_y(column(name, 0), column(name, 1), column(name, 2), column(name, 3)), 1e-12,
                 1);
  }
  // Derivatives by the colatitude: real and imaginary parts, first and second.
  const auto part = [&](bool real, const Real& theta) {
    const std::string name = "sph_harm_y_dtheta/c128";
    const auto y = sp::sph_harm_y(column(name, 0), column(name, 1), theta, column(name, 3));
    return nax::sum(real ? Real(nax::real(y)) : Real(nax::imag(y)));
  };
  const Real theta = column("sph_harm_y_dtheta/c128", 2);
  const auto check = [&](const std::string& name, const auto& derivative) {
    const Real re = derivative(true), im = derivative(false);
    expect_parts(name, Complex(re.astype<C>() + im.astype<C>() * C(0, 1)), 1e-10, 1);
  };
  check("sph_harm_y_dtheta/c128/out",
        [&](bool real) { return nax::grad([&](const Real& t) { return part(real, t); })(theta); });
  check("sph_harm_y_dtheta2/c128/out", [&](bool real) {
    return nax::grad([&](const Real& t) {
      return nax::sum(nax::grad([&](const Real& u) { return part(real, u); })(t));
    })(theta);
  });
}

TEST(SphericalHarmonics, TypesBroadcastingAndLongitude) {
  const nax::Array<int> n = {{0}, {1}, {2}}, m = {0, 1};
  static_assert(std::is_same_v<decltype(sp::sph_harm_y(n, m, 0.5, 0.25)), nax::Array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(sp::sph_harm_y(n, m, Real(0.5), 0.25)), Complex>);
  EXPECT_EQ(sp::sph_harm_y(n, m, Real(0.5), 0.25).shape(), (nax::Shape{3, 2}));
  EXPECT_EQ(sp::sph_harm_y(0, 1, Real(0.5), 0.25).item(), C(0));
  const auto y = [](const Real& phi) { return nax::imag(sp::sph_harm_y(3, 2, 0.8, phi)); };
  const double value = nax::real(sp::sph_harm_y(3, 2, Real(0.8), 0.3)).item();
  EXPECT_NEAR(nax::grad(y)(Real(0.3)).item(), 2 * value, 1e-14);  // of e^(2 i phi)
  EXPECT_EQ(
      refusal([&] {
        nax::grad([](const Real& order) { return nax::real(sp::sph_harm_y(2, order, 0.5, 0.5)); })(Real(1.0));
      }).substr(0, 49),
      "sph_harm_y: not differentiable with regard to m; ");
}

}  // namespace faddeeva_test
