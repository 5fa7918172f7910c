#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/transform/jvp.hpp"

using namespace elementwise;
using C = std::complex<float>;
using Z = std::complex<double>;

namespace complex_test {

TEST(Complex, Values) {
#define ROW(name, function) expect_golden(name, NAX_ROW(C, C, function), 16)
  ROW("negative", nax::negative), ROW("exp", nax::exp), ROW("log", nax::log), ROW("sqrt", nax::sqrt);
  ROW("square", nax::square), ROW("reciprocal", nax::reciprocal), ROW("sin", nax::sin), ROW("cos", nax::cos);
  ROW("tan", nax::tan), ROW("sinh", nax::sinh), ROW("cosh", nax::cosh), ROW("tanh", nax::tanh);
  ROW("conj", nax::conj);
#define REAL(name, function) expect_golden(name, NAX_ROW(C, float, function), 16)
  REAL("abs", nax::abs), REAL("real", nax::real), REAL("imag", nax::imag), REAL("angle", nax::angle);
#define ROW2(name, function) expect_golden(name, NAX_ROW2(Z, Z, function), 16)
  ROW2("add", nax::add), ROW2("multiply", nax::multiply), ROW2("divide", nax::divide),
      ROW2("power", nax::power);
}

// f of a complex number into the reals: reverse and forward against differences, in JAX's convention.
void expect_gradient(const char* name, Real (*f)(const Array<Z>&)) {
  const Z z(0.8, -1.3);
  const auto [value, pullback] = nax::vjp(f, Array<Z>(z));
  const Z gradient = std::get<0>(pullback(Real(1))).item();
  const double h = 1e-6;
  const auto at = [&](Z w) { return f(Array<Z>(w)).item(); };
  const double along = (at(z + h) - at(z - h)) / (2 * h),
               across = (at(z + Z(0, h)) - at(z - Z(0, h))) / (2 * h);
  EXPECT_NEAR(gradient.real(), along, 1e-8) << name;
  EXPECT_NEAR(gradient.imag(), -across, 1e-8) << name;
  const Z t(0.3, 0.9);
  const double tangent = nax::jvp(f, std::tuple{Array<Z>(z)}, std::tuple{Array<Z>(t)}).second.item();
  EXPECT_NEAR(tangent, along * t.real() + across * t.imag(), 1e-8) << name;
}

TEST(Complex, Gradients) {
#define GRADIENT(f) \
  expect_gradient(  \
      #f, +[](const Array<Z>& z) -> Real { return f; })
  GRADIENT(nax::abs(z)), GRADIENT(nax::real(z)), GRADIENT(nax::imag(z)), GRADIENT(nax::angle(z));
  GRADIENT(nax::real(z * nax::conj(z))), GRADIENT(nax::imag(nax::exp(z))), GRADIENT(nax::abs(nax::sqrt(z)));
  GRADIENT(nax::real(nax::arccosh(z)));
}

#undef ROW
#undef REAL
#undef ROW2
#undef GRADIENT

}  // namespace complex_test
