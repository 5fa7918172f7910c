#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/jacobian.hpp"
#include "table/checks.hpp"

namespace table {
namespace {

using Scalar = std::function<Real(const Operands&)>;

Operands gradient_of(const Scalar& f, const Operands& x) { return nax::grad(f)(x); }
Real forward(const Function& f, const Operands& x, const Operands& t) {
  return nax::jvp(f, std::tuple{x}, std::tuple{t}).second;
}
Operands forward(const Vectors& f, const Operands& x, const Operands& t) {
  return nax::jvp(f, std::tuple{x}, std::tuple{t}).second;
}
Real product(const Operands& a, const Operands& b) {
  Real total(0.0);
  for (std::size_t i = 0; i < a.size(); ++i) total = total + nax::sum(a[i] * b[i]);
  return total;
}

Operands differences(const std::function<double(const Operands&)>& f, const Operands& x) {
  constexpr double h = 1e-5;
  Operands out;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Numbers at = x[k].to_vector();
    Numbers slope(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto moved = [&](double by) {
        Numbers numbers = at;
        numbers[i] += by;
        Operands y = x;
        y[k] = array_of(x[k].shape(), numbers);
        return f(y);
      };
      slope[i] = (moved(h) - moved(-h)) / (2 * h);
    }
    out.push_back(array_of(x[k].shape(), slope));
  }
  return out;
}

}  // namespace

Operands gradient(const Function& f, const Operands& x, const Real& w) {
  return gradient_of([&](const Operands& a) { return Real(nax::sum(f(a) * w)); }, x);
}
Real mapped(const Function& f, const Operands& x, const std::vector<nax::Axes>& axes, int out) {
  return nax::vmap(f, {.in_axes = nax::InAxes(nax::AxesMaker::list(axes)), .out_axes = out})(x);
}
Operands mapped(const Vectors& f, const Operands& x, const std::vector<nax::Axes>& axes) {
  return nax::vmap(f, {.in_axes = nax::InAxes(nax::AxesMaker::list(axes))})(x);
}
Operands second(const Function& f, const Operands& x, const Real& w, const Operands& v) {
  return forward([&](const Operands& a) { return gradient(f, a, w); }, x, v);
}

void check_derivatives(const Row& row, const Operands& x, Random& random) {
  const Function& f = row.f;
  const Real y = f(x);
  const Real w = array_of(Operand{y.shape(), -1, 1}, random);
  const Operands v = like(x, random);

  const Operands g = gradient(f, x, w);
  const auto value = [&](const Operands& a) { return nax::sum(f(a) * w).item(); };
  expect_close("gradient against differences", g, differences(value, x), row.difference);
  expect_close("jvp against vjp", nax::sum(forward(f, x, v) * w), product(g, v), kExact);
  if (row.smooth != Smooth::twice) return;

  const Operands hv = second(f, x, w, v);
  const auto slope = [&](const Operands& a) { return product(gradient(f, a, w), v).item(); };
  expect_close("second derivative against differences", hv, differences(slope, x), row.difference * 10);
  const Scalar along = [&](const Operands& a) { return product(gradient(f, a, w), v); };
  expect_close("grad of grad against jvp of grad", gradient_of(along, x), hv, kExact * 10);
  const Scalar pushed = [&](const Operands& a) { return Real(nax::sum(forward(f, a, v) * w)); };
  expect_close("grad of jvp against jvp of grad", gradient_of(pushed, x), hv, kExact * 10);

  // The hessian of the first operand: vmap of jvp of vjp.
  if (x[0].size() == 0 || x[0].size() > 12) return;
  const std::function<Real(const Real&)> first = [&](const Real& a) {
    Operands all = x;
    all[0] = a;
    return Real(nax::sum(f(all) * w));
  };
  Operands only = x;
  for (std::size_t i = 0; i < x.size(); ++i) only[i] = i == 0 ? v[0] : Real(v[i] * 0.0);
  const Real h = nax::hessian(first)(x[0]).reshape({x[0].size(), x[0].size()});
  expect_close("hessian", Real(nax::sum(h * v[0].reshape({1, x[0].size()}), {.axis = 1})),
               second(f, x, w, only)[0].reshape({x[0].size()}), kExact * 10);
}

}  // namespace table
