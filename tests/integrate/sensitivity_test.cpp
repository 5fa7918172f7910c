// Gradients of initial value problems by checkpoints and by the adjoint equation, those of events, and lanes
// of a vmap.

#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "support/expect_close.hpp"
#include "support/refusal.hpp"

namespace sensitivity_test {

using nax::ellipsis, nax::grad, nax::sum;
using Real = nax::Array<double>;
namespace integrate = nax::integrate;
using support::expect_close;

const std::string_view methods[] = {"tsit5", "dopri5", "rodas4", "rodas5", "kvaerno5"};

// Lotka and Volterra's equations.
const auto field = [](double, const Real& y, const Real& r) -> Real {
  const Real meetings = y(0) * y(1);
  return nax::stack({Real(r(0) * y(0) - r(1) * meetings), Real(r(2) * meetings - r(3) * y(1))});
};
const Real rates{1.5, 1, 0.5, 1.2}, start{2, 1};

template <class F>
std::vector<double> differences(const F& f, const Real& x, double h = 1e-5) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real step = nax::zeros_like(x).at(i).set(h);
    all.push_back((f(Real(x + step)).item() - f(Real(x - step)).item()) / (2 * h));
  }
  return all;
}

TEST(SolveIvp, GradientsByEveryWayEqualDifferences) {
  const auto cost = [](std::string_view method, std::string_view gradient, const Real& r, const Real& y0) {
    const auto s = integrate::solve_ivp(field, {0, 3}, y0,
                                        {.method = method,
                                         .rtol = 1e-9,
                                         .atol = 1e-9,
                                         .t_eval = {0, 1, 2.5},
                                         .gradient = gradient,
                                         .args = r});
    return Real(sum(s.y * Real{{1, 2, 3}, {-1, 0.5, 2}}));
  };
  const auto of_rates = [&](const Real& r) { return cost("tsit5", "steps", r, start); };
  const auto of_start = [&](const Real& y0) { return cost("tsit5", "steps", rates, y0); };
  const std::vector<double> by_rates = differences(of_rates, rates), by_start = differences(of_start, start);
  for (const std::string_view method : methods)
    for (const std::string_view gradient : {"steps", "checkpoint", "adjoint"}) {
      const std::string name = std::string(method) + " " + std::string(gradient);
      const auto both = [&](const Real& r, const Real& y0) { return cost(method, gradient, r, y0); };
      const auto [in_rates, in_start] = grad<0, 1>(both)(rates, start);
      expect_close(name, in_rates.to_vector(), by_rates, 3e-5, 1);
      expect_close(name, in_start.to_vector(), by_start, 3e-5, 1);
    }
}

TEST(SolveIvp, GradientsReachWhatTheFieldCaptured) {
  for (const std::string_view gradient : {"steps", "checkpoint", "adjoint"}) {
    const auto last = [&](const Real& rate) -> Real {
      const auto s =
          integrate::solve_ivp([=](double t, const Real& y) -> Real { return -rate * y * t; }, {0, 2},
                               Real{3}, {.rtol = 1e-9, .atol = 1e-11, .gradient = gradient});
      return s.y(0, -1);
    };
    EXPECT_NEAR(grad(last)(Real(.7)).item(), -2 * 3 * std::exp(-1.4), 1e-6) << gradient;
    // Lanes of a vmap, by a captured rate and without t_eval.
    const Real g = nax::vmap(grad(last))(Real{.7, .1});
    EXPECT_NEAR(g(0).item(), -2 * 3 * std::exp(-1.4), 1e-6) << gradient;
    EXPECT_NEAR(g(1).item(), -2 * 3 * std::exp(-.2), 1e-6) << gradient;
    // A gradient of a sum over lanes.
    const auto total = [&](const Real& shared) {
      return Real(sum(nax::vmap([&](const Real& y0) -> Real {
        const auto s = integrate::solve_ivp([=](double, const Real& y) -> Real { return -shared * y; },
                                            {0, 1}, y0, {.rtol = 1e-9, .atol = 1e-11, .gradient = gradient});
        return s.y(0, -1);
      })(Real{{1}, {2}, {4}})));
    };
    EXPECT_NEAR(grad(total)(Real(.5)).item(), -7 * std::exp(-.5), 1e-6) << gradient;
  }
}

TEST(SolveIvp, AdjointRunsBackwardAndRefusesSecondDerivatives) {
  const auto first = [&](const Real& rate) -> Real {
    const auto s = integrate::solve_ivp([=](double, const Real& y) -> Real { return -rate * y; }, {2, 0},
                                        Real{3}, {.rtol = 1e-9, .atol = 1e-11, .gradient = "adjoint"});
    return s.y(0, -1);
  };
  EXPECT_NEAR(grad(first)(Real(.7)).item(), 2 * 3 * std::exp(1.4), 1e-5);
  EXPECT_NEAR(first(Real(.7)).item(), 3 * std::exp(1.4), 1e-5);
  EXPECT_EQ(refusal<nax::TypeError>([&] { grad(grad(first))(Real(.7)); }),
            "solve_ivp: gradient 'adjoint' is for first derivatives; 'steps' has others");
  EXPECT_THROW(nax::jvp(first, std::tuple{Real(.7)}, std::tuple{Real(1.)}), nax::TypeError);
  EXPECT_EQ(refusal([&] {
              integrate::solve_ivp(field, {0, 1}, start, {.gradient = "exact", .args = rates});
            }),
            "solve_ivp: gradient must be 'steps', 'checkpoint' or 'adjoint', not 'exact'");
  EXPECT_EQ(
      refusal([&] {
        integrate::solve_ivp(
            field, {0, 1}, start,
            {.events = [](double, const Real& y) { return y(0); }, .gradient = "adjoint", .args = rates});
      }),
      "solve_ivp: events need gradient 'steps' or 'checkpoint', not 'adjoint'");
  const auto second = [&](const Real& rate) -> Real {
    const auto s = integrate::solve_ivp([=](double, const Real& y) -> Real { return -rate * y; }, {0, 2},
                                        Real{3}, {.rtol = 1e-9, .atol = 1e-11, .gradient = "checkpoint"});
    return s.y(0, -1);
  };
  EXPECT_NEAR(grad(grad(second))(Real(.7)).item(), 4 * 3 * std::exp(-1.4), 1e-5);
  EXPECT_NEAR(nax::jvp(second, std::tuple{Real(.7)}, std::tuple{Real(1.)}).second.item(),
              -2 * 3 * std::exp(-1.4), 1e-6);
}

TEST(SolveIvp, AdjointReachesWhatTheFieldReadsLater) {
  // exp(-1 - p) at 2: f reads p behind t = 1 alone.
  for (const std::string_view method : {"tsit5", "rodas5"}) {
    const auto late = [&](const Real& p) -> Real {
      const auto s = integrate::solve_ivp(
          [=](double t, const Real& y) -> Real { return t < 1 ? Real(-y) : Real(-p * y); }, {0, 2}, Real{1},
          {.method = method, .rtol = 1e-8, .atol = 1e-10, .gradient = "adjoint"});
      return s.y(0, -1);
    };
    EXPECT_NEAR(grad(late)(Real(.5)).item(), -std::exp(-1.5), 1e-5) << method;
    EXPECT_THROW(grad(grad(late))(Real(.5)), nax::TypeError);
  }
  // By the state: y rises from 0.5 with rate 1 up to 1, then with rate p.
  const auto above = [&](const Real& p) -> Real {
    const auto s = integrate::solve_ivp(
        [=](double, const Real& y) -> Real {
          return nax::stop_gradient(y).to_vector()[0] < 1 ? nax::ones_like(y) : Real(p + 0. * y);
        },
        {0, 2}, Real{.5}, {.rtol = 1e-8, .atol = 1e-10, .gradient = "adjoint"});
    return s.y(0, -1);
  };
  EXPECT_NEAR(grad(above)(Real(2.)).item(), 1.5, 1e-4);
}

TEST(SolveIvp, AdjointKeepsTheLongestStep) {
  // A short pulse in the middle, which long steps pass over.
  const auto pulse = [](const Real& p) -> Real {
    const auto s = integrate::solve_ivp(
        [=](double t, const Real& y) -> Real { return p * std::exp(-std::pow((t - 5) / 0.2, 2)) + 0. * y; },
        {0, 10}, Real{0}, {.rtol = 1e-4, .t_eval = {10}, .max_step = 0.1, .gradient = "adjoint"});
    return s.y(0, -1);
  };
  EXPECT_NEAR(grad(pulse)(Real(3.)).item(), 0.2 * std::sqrt(std::acos(-1.)), 1e-4);
}

// A ball thrown from height p(0) with speed p(1) under gravity p(2) reaches the ground at a time in closed
// form.
TEST(SolveIvp, TimesAndStatesOfEventsHaveDerivatives) {
  const auto fall = [](double, const Real& y, const Real& p) -> Real {
    return nax::stack({Real(y(1)), Real(-p(2))});
  };
  const Real p{2, 3, 9.81};
  const double root = std::sqrt(9 + 2 * 9.81 * 2), t = (3 + root) / 9.81;
  for (const std::string_view method : methods)
    for (const std::string_view gradient : {"steps", "checkpoint"}) {
      const auto solve = [&](const Real& q) {
        return integrate::solve_ivp(fall, {0, 5}, nax::stack({Real(q(0)), Real(q(1))}),
                                    {.method = method,
                                     .rtol = 1e-9,
                                     .atol = 1e-9,
                                     .events = {{[](double, const Real& y) { return y(0); }, true, -1}},
                                     .gradient = gradient,
                                     .args = q});
      };
      EXPECT_NEAR(solve(p).t_events[0](0).item(), t, 1e-8);
      const std::string name = std::string(method) + " " + std::string(gradient);
      const std::vector<double> dt{1 / root, (1 + 3 / root) / 9.81, 2 / (9.81 * root) - t / 9.81};
      expect_close(name, grad([&](const Real& q) { return Real(solve(q).t_events[0](0)); })(p).to_vector(),
                   dt, 1e-6, 1);
      expect_close(name, grad([&](const Real& q) { return Real(solve(q).t(-1)); })(p).to_vector(), dt, 1e-6,
                   1);
      // The speed there is -sqrt(v^2 + 2 g h).
      const std::vector<double> dv{-9.81 / root, -3 / root, -2 / root};
      expect_close(name, grad([&](const Real& q) { return Real(solve(q).y(1, -1)); })(p).to_vector(), dv,
                   1e-6, 1);
      expect_close(name, grad([&](const Real& q) { return Real(solve(q).y_events[0](1, 0)); })(p).to_vector(),
                   dv, 1e-6, 1);
      expect_close(name, grad([&](const Real& q) { return Real(solve(q).y_events[0](0, 0)); })(p).to_vector(),
                   {0, 0, 0}, 1e-6, 1);
    }
  // An event in time and state, whose threshold a capture moves: exp(-t) + t / 10 = c.
  const auto when = [](const Real& c) {
    const auto s =
        integrate::solve_ivp([](double, const Real& y) -> Real { return -y; }, {0, 2}, Real{1},
                             {.rtol = 1e-10, .atol = 1e-10, .events = [&](double at, const Real& y) {
                                return y(0) + at / 10 - c;
                              }});
    return Real(s.t_events[0](0));
  };
  const double at = when(Real(.5)).item();
  EXPECT_NEAR(std::exp(-at) + at / 10, .5, 1e-8);
  EXPECT_NEAR(grad(when)(Real(.5)).item(), 1 / (.1 - std::exp(-at)), 1e-6);
  EXPECT_EQ(refusal<nax::TypeError>([&] { grad(grad(when))(Real(.5)); }),
            "solve_ivp: events have first derivatives alone");
}

TEST(SolveIvp, LanesOfAVmapEqualALoop) {
  const Real starts{{2, 1}, {0.5, 0.1}, {3, 2}};
  for (const std::string_view method : methods) {
    const auto solve = [&](const Real& y0, const Real& r) {
      return integrate::solve_ivp(
                 field, {0, 4}, y0,
                 {.method = method, .rtol = 1e-8, .atol = 1e-8, .t_eval = {1, 3, 4}, .args = r})
          .y;
    };
    const Real all = nax::vmap(solve, {.in_axes = {0, nax::none}})(starts, rates);
    ASSERT_EQ(all.shape(), (nax::Shape{3, 2, 3}));
    const Real many = Real(rates + nax::arange<double>(0, 3).reshape({3, 1}) * 0.1);
    const Real by_rates = nax::vmap(solve, {.in_axes = {nax::none, 0}})(start, many);
    const Real nested = nax::vmap(
        [&](const Real& y0) { return nax::vmap([&](const Real& r) { return solve(y0, r); })(many); })(starts);
    for (int i = 0; i < 3; ++i) {
      const std::string name(method);
      expect_close(name, Real(all(i)).reshape({6}).to_vector(),
                   Real(solve(Real(starts(i)), rates)).reshape({6}).to_vector(), 3e-6, 1);
      const Real alone = solve(start, Real(many(i)));
      expect_close(name, Real(by_rates(i)).reshape({6}).to_vector(), alone.reshape({6}).to_vector(), 3e-6, 1);
      const Real last = solve(Real(starts(2)), Real(many(i)));
      expect_close(name, Real(nested(2, i)).reshape({6}).to_vector(), last.reshape({6}).to_vector(), 3e-6, 1);
    }
  }
}

TEST(SolveIvp, RunsPlainlyUnderJit) {
  for (const std::string_view gradient : {"steps", "checkpoint", "adjoint"}) {
    const auto last = [=](const Real& r) -> Real {
      const auto s =
          integrate::solve_ivp(field, {0, 2}, start, {.rtol = 1e-7, .gradient = gradient, .args = r});
      return s.y(0, -1);
    };
    const auto compiled = nax::jit(last);
    const auto slope = nax::jit(grad(last));
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(compiled(rates).item(), last(rates).item()) << gradient;
      expect_close(std::string(gradient), slope(rates).to_vector(), grad(last)(rates).to_vector(), 1e-12, 1);
    }
    const auto narrow = [=](const nax::Array<float>& rate) -> nax::Array<float> {
      const auto s = integrate::solve_ivp(
          [=](double, const nax::Array<float>& y) -> nax::Array<float> { return -rate * y; }, {0, 1},
          nax::Array<float>{2.f}, {.rtol = 1e-5, .gradient = gradient});
      return s.y(0, -1);
    };
    EXPECT_NEAR(grad(narrow)(nax::Array<float>(.5f)).item(), -2 * std::exp(-.5), 1e-3) << gradient;
  }
}

TEST(SolveIvp, LanesThatCannotGoOnStopAlone) {
  // y' = y^2 from c is infinite at 1 / c; sqrt is NaN below 0.
  for (const std::string_view method : methods) {
    const Real ends = nax::vmap([&](const Real& c) -> Real {
      const auto s = integrate::solve_ivp([](double, const Real& y) -> Real { return y * y; }, {0, 2},
                                          Real(c.reshape({1})),
                                          {.method = method, .rtol = 1e-6, .atol = 1e-8, .max_steps = 3000});
      EXPECT_EQ(s.status, -1);
      EXPECT_FALSE(s.success);
      return s.y(0, -1);
    })(Real{0.25, 1, -1});
    EXPECT_NEAR(ends(0).item(), 0.5, 1e-4) << method;
    EXPECT_TRUE(std::isnan(ends(1).item())) << method;
    EXPECT_NEAR(ends(2).item(), -1. / 3, 1e-4) << method;
    const Real roots = nax::vmap([&](const Real& c) -> Real {
      return integrate::solve_ivp([](double, const Real& y) -> Real { return sqrt(y); }, {0, 1},
                                  Real(c.reshape({1})), {.method = method, .rtol = 1e-6})
          .y(0, -1);
    })(Real{-1, 1});
    EXPECT_TRUE(std::isnan(roots(0).item())) << method;
    EXPECT_NEAR(roots(1).item(), 2.25, 1e-4) << method;
  }
  // All lanes, one behind the other; a lane that is NaN from the start.
  for (const Real& from : {Real{1, 2}, Real{NAN, 1}})
    nax::vmap([](const Real& c) -> Real {
      const auto s =
          integrate::solve_ivp([](double, const Real& y) -> Real { return y * y; }, {0, 2},
                               Real(c.reshape({1})), {.rtol = 1e-6, .atol = 1e-8, .max_steps = 1500});
      EXPECT_EQ(s.status, -1) << s.message;
      return s.y(0, -1);
    })(from);
  EXPECT_EQ(refusal([&] {
              nax::vmap([](const Real& y0) -> Real {
                return integrate::solve_ivp(
                           field, {0, 1}, y0,
                           {.events = [](double, const Real& y) { return y(0); }, .args = rates})
                    .y(0, -1);
              })(Real{{1, 2}, {3, 4}});
            }),
            "solve_ivp: events do not go under vmap: event 0 differs from lane to lane");
}

}  // namespace sensitivity_test
