// Gradients through .sol(t) by every method, and derivatives in times: those of odeint, .t_eval and the ends.

#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "support/expect_close.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace times_test {

using nax::ellipsis, nax::grad, nax::sum;
using Real = nax::Array<double>;
namespace integrate = nax::integrate;
using support::expect_close;

const std::string_view methods[] = {"tsit5", "dopri5", "rodas4", "rodas5", "kvaerno5"};
const std::string_view gradients[] = {"steps", "checkpoint", "adjoint"};

// Not autonomous, not linear, of two elements.
const auto field = [](double t, const Real& y, const Real& p) -> Real {
  return nax::stack({Real(p(0) * y(1) - y(0) * t), Real(-p(1) * y(0) * y(1) + std::sin(t))});
};
const Real rates{1.5, 0.7}, start{1, 0.5}, weights{1, -2};

template <class F>
std::vector<double> differences(const F& f, const Real& x, double h = 1e-5) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real step = nax::zeros_like(x).at(i).set(h);
    all.push_back((f(Real(x + step)).item() - f(Real(x - step)).item()) / (2 * h));
  }
  return all;
}

TEST(SolveIvpTimes, DenseOutputHasTheGradients) {
  const auto cost = [](std::string_view method, std::string_view gradient, const Real& p, const Real& y0) {
    const auto s = integrate::solve_ivp(field, {0, 2}, y0,
                                        {.method = method,
                                         .rtol = 1e-9,
                                         .atol = 1e-9,
                                         .dense_output = true,
                                         .gradient = gradient,
                                         .args = p});
    return Real(sum(s.sol(0.7) * weights) + sum(s.sol(1.55)) + s.sol(0)(0) + 3. * s.sol(2)(1) + s.y(0, -1));
  };
  const auto of_rates = [&](const Real& p) { return cost("tsit5", "steps", p, start); };
  const auto of_start = [&](const Real& y0) { return cost("tsit5", "steps", rates, y0); };
  const std::vector<double> by_rates = differences(of_rates, rates), by_start = differences(of_start, start);
  for (const std::string_view method : methods)
    for (const std::string_view gradient : gradients) {
      const std::string name = std::string(method) + " " + std::string(gradient);
      const auto both = [&](const Real& p, const Real& y0) { return cost(method, gradient, p, y0); };
      EXPECT_NEAR(both(rates, start).item(), of_rates(rates).item(), 1e-6) << name;
      const auto [in_rates, in_start] = grad<0, 1>(both)(rates, start);
      expect_close(name, in_rates.to_vector(), by_rates, 3e-5, 1);
      expect_close(name, in_start.to_vector(), by_start, 3e-5, 1);
      if (gradient == "adjoint") continue;
      const auto of = [&](const Real& p) { return both(p, start); };
      expect_close(name, nax::jacfwd(of)(rates).to_vector(), by_rates, 3e-5, 1);
    }
}

TEST(SolveIvpTimes, DenseOutputOfCapturesAndLanes) {
  for (const std::string_view gradient : gradients) {
    const auto middle = [&](const Real& rate) -> Real {
      const auto s =
          integrate::solve_ivp([=](double, const Real& y) -> Real { return -rate * y; }, {2, 0}, Real{3},
                               {.rtol = 1e-9, .atol = 1e-11, .dense_output = true, .gradient = gradient});
      return s.sol(1.25)(0);
    };
    EXPECT_NEAR(grad(middle)(Real(.7)).item(), .75 * 3 * std::exp(.7 * .75), 1e-6) << gradient;
    const Real lanes = nax::vmap(grad(middle))(Real{.7, .2});
    EXPECT_NEAR(lanes(1).item(), .75 * 3 * std::exp(.2 * .75), 1e-6) << gradient;
  }
}

// t: begin, two times of t_eval, end.
Real by_times(std::string_view method, std::string_view gradient, const Real& t, const Real& p,
              double tolerance = 1e-11) {
  const auto s = integrate::solve_ivp(field, {t(0), t(3)}, start,
                                      {.method = method,
                                       .rtol = tolerance,
                                       .atol = tolerance,
                                       .t_eval = t(nax::slice(1, 3)),
                                       .dense_output = true,
                                       .gradient = gradient,
                                       .args = p});
  return sum(s.y * Real{{1, 2}, {-1, 0.5}}) + sum(s.sol(t(2)) * weights) + sum(s.t * s.t);
}

TEST(SolveIvpTimes, TimesHaveDerivatives) {
  const Real t{0.1, 0.6, 1.4, 2};
  const auto of = [](const Real& at) { return by_times("tsit5", "steps", at, rates); };
  const std::vector<double> want = differences(of, t);
  for (const std::string_view method : methods)
    for (const std::string_view gradient : gradients) {
      const std::string name = std::string(method) + " " + std::string(gradient);
      const auto f = [&](const Real& at) { return by_times(method, gradient, at, rates, 1e-7); };
      expect_close(name, grad(f)(t).to_vector(), want, 1e-4, 1);
      if (gradient != "adjoint") expect_close(name, nax::jacfwd(f)(t).to_vector(), want, 1e-4, 1);
    }
}

TEST(SolveIvpTimes, EndsHaveDerivatives) {
  const auto of = [](std::string_view method, std::string_view gradient, double tolerance) {
    return [=](const Real& ends) -> Real {
      const auto s = integrate::solve_ivp(
          field, {ends(0), ends(1)}, start,
          {.method = method, .rtol = tolerance, .atol = tolerance, .gradient = gradient, .args = rates});
      return sum(s.y(ellipsis, -1) * weights) + 5. * s.t(-1) + 7. * s.t(0) + sum(s.y(ellipsis, 0));
    };
  };
  for (const Real& ends : {Real{0.2, 1.5}, Real{1.5, 0.2}}) {
    const std::vector<double> want = differences(of("tsit5", "steps", 1e-11), ends);
    for (const std::string_view method : methods)
      for (const std::string_view gradient : gradients)
        expect_close(std::string(method) + " " + std::string(gradient),
                     grad(of(method, gradient, 1e-7))(ends).to_vector(), want, 1e-4, 1);
  }
  // An event ends the solution: its end does not move with the span's.
  const auto stopped = [](const Real& ends) -> Real {
    const auto s =
        integrate::solve_ivp([](double, const Real& y) -> Real { return -y; }, {ends(0), ends(1)}, Real{1},
                             {.rtol = 1e-10,
                              .atol = 1e-12,
                              .events = {{[](double, const Real& y) { return Real(y(0) - 0.5); }, true, 0}}});
    return s.t(-1) + 3. * s.y(0, -1);
  };
  expect_close("event", grad(stopped)(Real{0.25, 3}).to_vector(), {1, 0}, 1e-6, 1);
}

TEST(SolveIvpTimes, OdeintMeetsJaxes) {
  const auto get = [](const char* name) {
    const golden::Golden& record = golden::get("odeint", name);
    return nax::array(record.values).reshape(nax::Shape(record.shape));
  };
  const Real t = get("t"), y0 = get("y0"), p = get("p"), g = get("cotangent");
  for (const std::string_view method : methods) {
    const auto f = [&](const Real& y, const Real& at, const Real& q) {
      const auto turned = [=](const Real& s, double time) { return field(time, s, q); };
      return Real(sum(integrate::odeint(turned, y, at, {.rtol = 1e-9, .atol = 1e-9, .method = method}) * g));
    };
    const auto [in_y, in_t, in_p] = grad<0, 1, 2>(f)(y0, t, p);
    const std::string name(method);
    expect_close(name, in_y.to_vector(), get("in_y0").to_vector(), 1e-5, 1);
    expect_close(name, in_t.to_vector(), get("in_t").to_vector(), 1e-5, 1);
    expect_close(name, in_p.to_vector(), get("in_p").to_vector(), 1e-5, 1);
  }
}

TEST(SolveIvpTimes, SecondDerivatives) {
  const Real t{0.1, 0.6, 1.4, 2};
  for (const std::string_view gradient : {"steps", "checkpoint"}) {
    const auto f = [&](const Real& at, const Real& p) { return by_times("dopri5", gradient, at, p); };
    // Once in times and once in rates: in either order.
    const auto inner = [&](const Real& p) {
      return Real(sum(grad([&](const Real& at) { return f(at, p); })(t) * Real{1, 2, 3, 4}));
    };
    const auto outer = [&](const Real& at) {
      return Real(sum(grad([&](const Real& p) { return f(at, p); })(rates) * Real{1, -2}));
    };
    const std::string name(gradient);
    expect_close(name, grad(inner)(rates).to_vector(), differences(inner, rates), 1e-4, 1);
    expect_close(name, grad(outer)(t).to_vector(), differences(outer, t), 1e-4, 1);
    EXPECT_EQ(refusal<nax::TypeError>([&] {
                grad([&](const Real& at) {
                  return Real(sum(grad([&](const Real& x) { return f(x, rates); })(at)));
                })(t);
              }),
              "solve_ivp: times have first derivatives alone");
  }
}

TEST(SolveIvpTimes, AdjointRefusesWhatItCannotGive) {
  const char* const text = "solve_ivp: gradient 'adjoint' is for first derivatives; 'steps' has others";
  const auto end = [](const Real& p) -> Real {
    const auto s = integrate::solve_ivp([=](double, const Real& y) -> Real { return -p * y; }, {0, 1},
                                        Real{2}, {.rtol = 1e-9, .atol = 1e-11, .gradient = "adjoint"});
    return s.y(0, -1);
  };
  const Real p(.7);
  // The cotangent depends on the outer variable: its derivative does not pass the adjoint equation.
  EXPECT_EQ(
      refusal<nax::TypeError>([&] {
        grad([&](const Real& q) { return grad([&](const Real& x) { return Real(q * end(x)); })(p); })(p);
      }),
      text);
  EXPECT_EQ(refusal<nax::TypeError>([&] {
              nax::jvp(
                  [&](const Real& q) { return grad([&](const Real& x) { return Real(q * end(x)); })(p); },
                  std::tuple{p}, std::tuple{Real(1.)});
            }),
            text);
  // A gradient inside another one whose variable it does not meet, by a weight of its own.
  const Real beside = grad(
      [&](const Real& q) { return Real(q * grad([&](const Real& x) { return Real(x * end(x)); })(p)); })(p);
  EXPECT_NEAR(beside.item(), 2 * std::exp(-.7) * (1 - .7), 1e-6);
  EXPECT_EQ(refusal<nax::TypeError>([&] {
              grad([](const Real& t) -> Real {
                return integrate::sdeint([](double, const Real& y) -> Real { return -y; },
                                         [](double, const Real& y) -> Real { return 0. * y; }, {0, t},
                                         Real{1}, nax::random::key(0))
                    .y(0, -1);
              })(p);
            }),
            "sdeint: t_span has no derivatives; pass stop_gradient of it");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              integrate::solve_ivp(field, {0, Real{1, 2}}, start, {.args = rates});
            }),
            "solve_ivp: a time must be one number, not shape (2,)");
}

}  // namespace times_test
