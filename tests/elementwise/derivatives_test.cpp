#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/transform/jvp.hpp"

namespace elementwise {

void expect_close(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
                  double tolerance, double scale) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    if (got[i] == want[i]) continue;
    EXPECT_LE(std::abs(got[i] - want[i]), tolerance * (std::abs(want[i]) + scale))
        << what << "[" << i << "]: " << got[i] << " instead of " << want[i];
  }
}

Real reverse(const Function& f, const Real& x) {
  const auto [y, pullback] = nax::vjp(f, x);
  return std::get<0>(pullback(nax::ones_like(y)));
}
Real forward(const Function& f, const Real& x) {
  return nax::jvp(f, std::tuple{x}, std::tuple{nax::ones_like(x)}).second;
}
std::vector<double> differences(const Function& f, const Real& x) {
  const double h = 1e-5;
  return numbers(Real((f(x + h) - f(x - h)) / (2 * h)));
}

void check(const std::string& name, const Function& f, const Real& x) {
  const Function by_reverse = [&](const Real& at) { return reverse(f, at); };
  const Function by_forward = [&](const Real& at) { return forward(f, at); };
  const Real first = by_reverse(x);
  expect_close(name + "'", numbers(first), differences(f, x), 1e-6, 1);
  expect_close(name + "' forward", numbers(by_forward(x)), numbers(first), 1e-12, 1);
  const Real second = reverse(by_reverse, x);
  expect_close(name + "''", numbers(second), differences(by_reverse, x), 1e-6, 1);
  expect_close(name + "'' forward over reverse", numbers(forward(by_reverse, x)), numbers(second), 1e-11, 1);
  expect_close(name + "'' reverse over forward", numbers(reverse(by_forward, x)), numbers(second), 1e-11, 1);
}

Real points(double low, double high) {
  std::vector<double> x;
  for (int i = 0; i < 9; ++i) x.push_back(low + (high - low) * (i + 0.31) / 9);
  return array_of<double>(x, {9});
}

void expect_derivatives(const char* name, const Function& f, double low, double high) {
  check(name, f, points(low, high));
}
void expect_derivatives(const char* name, const Function2& f, double x_low, double x_high, double y_low,
                        double y_high) {
  const Real x = points(x_low, x_high), y = points(y_high, y_low);
  check(
      std::string(name) + " in the first", [&](const Real& t) { return f(t, y); }, x);
  check(
      std::string(name) + " in the second", [&](const Real& t) { return f(x, t); }, y);
  check(
      std::string(name) + " across", [&](const Real& t) { return f(x + t, y - t * 0.5); },
      nax::zeros_like(x));
}
void expect_derivative(const char* name, const Function& f, double at, double first, bool also_forward) {
  expect_close(std::string(name) + "'", numbers(reverse(f, Real(at))), {first}, 1e-12);
  if (also_forward)
    expect_close(std::string(name) + "' forward", numbers(forward(f, Real(at))), {first}, 1e-12);
}
void expect_second(const char* name, const Function& f, double at, double second) {
  const Function by_reverse = [&](const Real& x) { return reverse(f, x); };
  expect_close(std::string(name) + "''", numbers(reverse(by_reverse, Real(at))), {second}, 1e-12);
}

}  // namespace elementwise

TEST(Elementwise, GradientsFlowThroughCasts) {
  using namespace elementwise;
  expect_derivative(
      "astype", [](const Real& x) { return Real(nax::square(nax::astype<float>(x)).astype<double>()); }, 3,
      6);
  expect_derivative(
      "astype to integers", [](const Real& x) { return Real(x * nax::astype<int>(x)); }, 2.5, 2);
  expect_derivatives(
      "condition", [](const Real& x) { return Real(nax::where(x > 0, x * x, -x)); }, -2, 2);
}
