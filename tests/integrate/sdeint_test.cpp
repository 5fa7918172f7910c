// Stochastic differential equations: strong orders on a known path, moments, transforms, errors.

#include <gtest/gtest.h>

#include <cmath>
#include <nax/integrate.hpp>
#include <nax/transform.hpp>
#include <string>
#include <tuple>

#include "support/refusal.hpp"

namespace sdeint_test {

using nax::sum, nax::slice, nax::_;
using Real = nax::Array<double>;
namespace integrate = nax::integrate;
namespace random = nax::random;

const auto drift = [](double, const Real& y) { return 0.5 * y; };
const auto diffusion = [](double, const Real& y) { return 0.8 * y; };

// The mean error at t = 1 of 200 geometric Brownian motions, next to exp((0.5 - 0.32) t + 0.8 w).
double strong_error(std::string_view method, std::int64_t steps) {
  const std::int64_t finest = 512;
  const Real dw =
      random::normal<double>(random::key(3), {finest, 200}) / std::sqrt(static_cast<double>(finest));
  const Real coarse = sum(dw.reshape({steps, finest / steps, 200}), {.axis = 1});
  const auto s =
      integrate::sdeint(drift, diffusion, {0, 1}, nax::ones<double>({200}), coarse, {.method = method});
  const Real exact = exp(0.18 + 0.8 * sum(dw, {.axis = 0}));
  return nax::mean(nax::abs(s.y(nax::ellipsis, -1) - exact)).item();
}

TEST(Sdeint, StrongOrders) {
  const auto order = [](std::string_view method) {
    return std::log2(strong_error(method, 16) / strong_error(method, 256)) / 4;
  };
  EXPECT_NEAR(order("euler"), 0.5, 0.12);
  EXPECT_NEAR(order("milstein"), 1, 0.12);
  EXPECT_LT(strong_error("milstein", 256), 0.005);
}

TEST(Sdeint, DrawsFromAKey) {
  // Ornstein and Uhlenbeck's process comes to rest at variance 1/2.
  const auto pull = [](double, const Real& y) { return -y; };
  const auto noise = [](double, const Real& y) { return nax::ones_like(y); };
  const auto s =
      integrate::sdeint(pull, noise, {0, 4}, 2 * nax::ones<double>({2000}), random::key(1), {.steps = 80});
  EXPECT_EQ(s.y.shape(), (nax::Shape{2000, 81}));
  EXPECT_EQ(s.w.shape(), (nax::Shape{2000, 81}));
  EXPECT_EQ(s.t.shape(), nax::Shape{81});
  EXPECT_EQ(s.t(-1).item(), 4);
  const Real last = s.y(_, -1);
  EXPECT_NEAR(nax::mean(last).item(), 2 * std::exp(-4.), 4 * std::sqrt(0.5 / 2000));
  EXPECT_NEAR(nax::var(last).item(), 0.5, 0.08);
  EXPECT_NEAR(nax::var(Real(s.w(_, -1))).item(), 4, 0.6);
  EXPECT_TRUE(array_equal(s.w(_, 0), nax::zeros<double>({2000})));
  // Without noise, Euler's steps.
  const auto none = [](double, const Real& y) { return nax::zeros_like(y); };
  const auto plain = integrate::sdeint(pull, none, {0, 1}, Real{1, 2}, random::key(1), {.steps = 10});
  EXPECT_NEAR(plain.y(1, -1).item(), 2 * std::pow(0.9, 10), 1e-14);
}

TEST(Sdeint, ComposesWithTransforms) {
  const auto f = [](double t, const Real& y, const Real& p) { return p(0) * y + t; };
  const auto g = [](double, const Real& y, const Real& p) { return p(1) * y; };
  for (const std::string_view method : {"euler", "milstein"}) {
    const auto end = [&](const Real& p, const random::Key& key) {
      return integrate::sdeint(f, g, {0, 1}, Real{1}, key, {.method = method, .steps = 8, .args = p})
          .y(0, -1);
    };
    const Real p{0.5, 0.3};
    const random::Key keys = random::split(random::key(0), 3);
    const auto first = [&](const Real& p) { return Real(end(p, keys(0))); };
    const Real slope = nax::grad(first)(p);
    for (int i = 0; i < 2; ++i) {
      const Real step = 1e-6 * nax::eye<double>(2)(i);
      EXPECT_NEAR(slope(i).item(), (first(p + step).item() - first(p - step).item()) / 2e-6, 1e-7);
    }
    EXPECT_NEAR(nax::jit(first)(p).item(), first(p).item(), 1e-13);
    const Real all = nax::vmap([&](const random::Key& key) { return Real(end(p, key)); })(keys);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(all(i).item(), Real(end(p, keys(i))).item(), 1e-13);
  }
}

TEST(Sdeint, RefusesBadInput) {
  const Real y0{1, 2};
  const random::Key key = random::key(0);
  EXPECT_EQ(refusal([&] {
              integrate::sdeint(drift, diffusion, {0, 1}, y0, key, {.method = "heun"});
            }),
            "sdeint: method must be 'euler' or 'milstein', not 'heun'");
  EXPECT_EQ(refusal([&] {
              integrate::sdeint(drift, diffusion, {1, 0}, y0, key);
            }),
            "sdeint: t_span must be finite and not run backward, got {1.000000, 0.000000}");
  EXPECT_EQ(refusal([&] {
              integrate::sdeint(drift, diffusion, {0, 1}, y0, key, {.steps = 0});
            }),
            "sdeint: steps must be positive: 0");
  const auto wide = [](double, const Real&) { return Real{1, 2, 3}; };
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              integrate::sdeint(drift, wide, {0, 1}, y0, key);
            }),
            "sdeint: g must return an array of y's shape (2,), not (3,)");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              integrate::sdeint(drift, diffusion, {0, 1}, y0, nax::zeros<double>({5}));
            }),
            "sdeint: dw must have shape (steps, ...) for y0 of shape (2,), not (5,)");
}

}  // namespace sdeint_test
