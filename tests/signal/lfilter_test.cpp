// Linear filters against their difference equation.

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <nax/signal.hpp>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace lfilter_test {

using nax::sum;
using Real = nax::Array<double>;
namespace signal = nax::signal;
using support::expect_close;
using Numbers = std::vector<double>;

Numbers by_equation(const Numbers& b, const Numbers& a, const Numbers& x) {
  Numbers y(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) {
    for (std::size_t k = 0; k < b.size() && k <= n; ++k) y[n] += b[k] * x[n - k];
    for (std::size_t k = 1; k < a.size() && k <= n; ++k) y[n] -= a[k] * y[n - k];
    y[n] /= a[0];
  }
  return y;
}
const Real b{0.2, 0.3, -0.1}, a{2, -0.6, 0.25, 0.1}, x{1, -2, 3, 0.5, 4, -1, 2};

TEST(Lfilter, FollowsItsEquation) {
  const Real coefficients[] = {b, a, Real{3}, Real{0.5, 0.25}};
  for (const Real& top : coefficients)
    for (const Real& bottom : coefficients)
      expect_close("lfilter", signal::lfilter(top, bottom, x).to_vector(),
                   by_equation(top.to_vector(), bottom.to_vector(), x.to_vector()), 1e-14, 1);
  EXPECT_EQ(signal::lfilter(b, a, nax::zeros<double>({0})).shape(), (nax::Shape{0}));
  const nax::Array<float> narrow =
      signal::lfilter(nax::Array<float>{1, 1}, nax::Array<float>{1}, nax::Array<float>{1, 2, 3});
  expect_close("float", {narrow(0).item(), narrow(1).item(), narrow(2).item()}, {1, 3, 5}, 1e-6, 1);
}

// Plain calls are a loop over elements, those under jit a scan.
TEST(Lfilter, LoopAndScanAgree) {
  const Real many = nax::random::normal<double>(nax::random::key(1), {3, 40, 2});
  for (const int axis : {0, 1, 2}) {
    const auto f = [=](const Real& x) { return signal::lfilter(b, a, x, {.axis = axis}); };
    expect_close("scan", nax::jit(f, {.required = true})(many).reshape({240}).to_vector(),
                 f(many).reshape({240}).to_vector(), 1e-14, 1);
  }
}

TEST(Lfilter, AxesAndStates) {
  const Real many = nax::stack({x, Real(2. * x), Real(x * x)});
  const Real rows = signal::lfilter(b, a, many), columns = signal::lfilter(b, a, many.T(), {.axis = 0});
  expect_close("axis", Real(columns.T()).reshape({21}).to_vector(), rows.reshape({21}).to_vector(), 1e-15, 1);
  expect_close("row", Real(rows(2)).to_vector(), signal::lfilter(b, a, Real(x * x)).to_vector(), 1e-14, 1);
  // In two parts, the second from the state of the first.
  const auto [head, state] = signal::lfilter(b, a, Real(x(nax::slice(0, 3))), nax::zeros<double>({3}));
  const auto [tail, end] = signal::lfilter(b, a, Real(x(nax::slice(3, 7))), state);
  expect_close("parts", Real(nax::concatenate({head, tail})).to_vector(),
               signal::lfilter(b, a, x).to_vector(), 1e-14, 1);
  EXPECT_EQ(end.shape(), (nax::Shape{3}));
  const Real mapped = nax::vmap([](const Real& row) { return signal::lfilter(b, a, row); })(many);
  expect_close("vmap", mapped.reshape({21}).to_vector(), rows.reshape({21}).to_vector(), 1e-15, 1);
  const Real jitted = nax::jit([](const Real& row) { return signal::lfilter(b, a, row); })(x);
  expect_close("jit", jitted.to_vector(), signal::lfilter(b, a, x).to_vector(), 1e-14, 1);
}

TEST(Lfilter, DerivativesEqualDifferences) {
  const auto cost = [](const Real& top, const Real& bottom, const Real& in) {
    return Real(sum(signal::lfilter(top, bottom, in) * nax::arange<double>(1, 8)));
  };
  const auto [db, da, dx] = nax::grad<0, 1, 2>(cost)(b, a, x);
  const auto difference = [](const Real& at, const auto& f) {
    Numbers all;
    for (int i = 0; i < at.size(); ++i) {
      const Real h = nax::zeros_like(at).at(i).set(1e-6);
      all.push_back((f(Real(at + h)).item() - f(Real(at - h)).item()) / 2e-6);
    }
    return all;
  };
  expect_close("b", db.to_vector(), difference(b, [&](const Real& c) { return cost(c, a, x); }), 1e-7, 1);
  expect_close("a", da.to_vector(), difference(a, [&](const Real& c) { return cost(b, c, x); }), 1e-7, 1);
  expect_close("x", dx.to_vector(), difference(x, [&](const Real& c) { return cost(b, a, c); }), 1e-7, 1);
}

TEST(Lfilter, Errors) {
  EXPECT_EQ(refusal([] { signal::lfilter(Real(1.), a, x); }),
            "lfilter: b and a must have one axis and at least one element, not shapes () and (4,)");
  EXPECT_EQ(refusal([] { signal::lfilter(b, nax::zeros<double>({0}), x); }),
            "lfilter: b and a must have one axis and at least one element, not shapes (3,) and (0,)");
  EXPECT_EQ(refusal<nax::IndexError>([] { signal::lfilter(b, a, x, {.axis = 1}); }),
            "lfilter: axis 1 is out of bounds for x of shape (7,)");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              signal::lfilter(b, a, x, Real{0, 0});
            }),
            "lfilter: zi must have 3 elements along the axis and x's shape (7,) otherwise, not shape (2,)");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              signal::lfilter(b, a, x, Real{{0, 0, 0}});
            }),
            "lfilter: zi must have 3 elements along the axis and x's shape (7,) otherwise, not shape (1, 3)");
  EXPECT_EQ(refusal<nax::ShapeError>([] {
              signal::lfilter(b, a, nax::zeros<double>({2, 7}), Real(0.), {.axis = 1});
            }),
            "lfilter: zi must have 3 elements along the axis and x's shape (2, 7) otherwise, not shape ()");
  EXPECT_EQ(refusal([] { signal::lfilter(b, Real{0, 1}, x); }), "lfilter: a[0] must not be 0");
  EXPECT_THROW(
      nax::grad([](const Real& bottom) { return Real(sum(signal::lfilter(b, bottom, x))); })(Real{0, 1}),
      nax::ValueError);
  // Programs take other values of a.
  const auto filtered = nax::jit([](const Real& bottom) { return signal::lfilter(b, bottom, x); });
  for (const Real& bottom : {a, Real(a * a), Real(3. - a)})
    expect_close("jit", filtered(bottom).to_vector(), signal::lfilter(b, bottom, x).to_vector(), 1e-13, 1);
}

}  // namespace lfilter_test
