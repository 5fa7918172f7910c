#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nax/nax.hpp>

// Initial value problems against closed forms and SciPy's Radau and DOP853 at tight tolerances.
namespace solve_ivp_test {
using namespace nax;
using A = Array<double>;

const auto oscillator = [](double, const A& y) { return stack(std::vector<A>{A(y(1)), A(-y(0))}); };
const auto decay = [](double, const A& y, const A& rate) -> A { return -rate * y; };
const std::string_view methods[] = {"tsit5", "dopri5", "rodas4", "rodas5", "kvaerno5"};

double error_of(std::string_view method, double rtol) {
  const auto s =
      integrate::solve_ivp(oscillator, {0, 10}, A{1, 0}, {.method = method, .rtol = rtol, .atol = rtol});
  EXPECT_TRUE(s.success) << s.message;
  return std::hypot(s.y(0, -1).item() - std::cos(10.), s.y(1, -1).item() + std::sin(10.));
}

TEST(SolveIvp, ErrorsFollowTheTolerance) {
  for (const std::string_view method : methods) {
    EXPECT_LT(error_of(method, 1e-6), 1e-4) << method;
    EXPECT_LT(error_of(method, 1e-9), 2e-7) << method;
    EXPECT_GT(error_of(method, 1e-3), 1e-7) << method;
  }
}

TEST(SolveIvp, CoefficientsMeetTheirConditions) {
  using namespace integrate::detail;
  for (const ExplicitMethod* m : {&tsit5, &dopri5}) {
    double weights[7], first = 0, second = 0, third = 0, fourth = 0, fifth = 0;
    for (int i = 0; i < 6; ++i) {
      double row = 0;
      for (int j = 0; j <= i; ++j) row += m->a[i][j];
      EXPECT_NEAR(row, m->c[i + 1], 1e-13);
    }
    for (int i = 0; i < 6; ++i) {
      const double b = m->a[5][i], c = m->c[i];
      first += b, second += b * c, third += b * c * c, fourth += b * c * c * c, fifth += b * c * c * c * c;
    }
    EXPECT_NEAR(first, 1, 1e-13);
    EXPECT_NEAR(second, 1. / 2, 1e-13);
    EXPECT_NEAR(third, 1. / 3, 1e-13);
    EXPECT_NEAR(fourth, 1. / 4, 1e-13);
    EXPECT_NEAR(fifth, 1. / 5, 1e-13);
    m->dense(1, weights);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(weights[i], m->a[5][i], 1e-12) << i;
    EXPECT_NEAR(weights[6], 0, 1e-12);
    double error = 0;
    for (const double e : m->error) error += e;
    EXPECT_NEAR(error, 0, 1e-15);
  }
}

// All conditions of order 5, and those of order 4 of the embedded method.
TEST(SolveIvp, CoefficientsOfKvaernoMeetTheirConditions) {
  const integrate::detail::ImplicitMethod& m = integrate::detail::kvaerno5;
  double a[7][7] = {};
  for (int i = 1; i < 7; ++i) {
    double row = a[i][i] = m.gamma;
    for (int j = 0; j < i; ++j) row += a[i][j] = m.a[i][j];
    EXPECT_NEAR(row, m.c[i], 1e-14) << i;
  }
  using Stages = std::array<double, 7>;
  const auto times = [&](const Stages& x) {
    Stages y{};
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 7; ++j) y[i] += a[i][j] * x[j];
    return y;
  };
  const auto by = [](const Stages& x, const Stages& y) {
    Stages z{};
    for (int i = 0; i < 7; ++i) z[i] = x[i] * y[i];
    return z;
  };
  const Stages one{1, 1, 1, 1, 1, 1, 1}, c = times(one), c2 = by(c, c), c3 = by(c, c2), ac = times(c),
                                         ac2 = times(c2), aac = times(ac);
  const auto expect = [&](int row, const Stages& x, double value) {
    double sum = 0;
    for (int i = 0; i < 7; ++i) sum += a[row][i] * x[i];
    EXPECT_NEAR(sum, value, 1e-15);
  };
  for (const int row : {5, 6}) {
    expect(row, one, 1);
    expect(row, c, 1. / 2);
    expect(row, c2, 1. / 3);
    expect(row, ac, 1. / 6);
    expect(row, c3, 1. / 4);
    expect(row, by(c, ac), 1. / 8);
    expect(row, ac2, 1. / 12);
    expect(row, aac, 1. / 24);
  }
  expect(6, by(c, c3), 1. / 5);
  expect(6, by(c2, ac), 1. / 10);
  expect(6, by(c, ac2), 1. / 15);
  expect(6, by(c, aac), 1. / 30);
  expect(6, by(ac, ac), 1. / 20);
  expect(6, times(c3), 1. / 20);
  expect(6, times(by(c, ac)), 1. / 40);
  expect(6, times(ac2), 1. / 60);
  expect(6, times(aac), 1. / 120);
  // Between the ends of a step.
  for (const double x : {0., 0.3, 0.7, 1.}) {
    const auto within = [&](const Stages& of, double value) {
      double sum = x * of[0];
      for (int i = 0; i < 7; ++i)
        sum += x * x * (m.dense[0][i] + x * (m.dense[1][i] + x * m.dense[2][i])) * of[i];
      EXPECT_NEAR(sum, value, 1e-13);
    };
    within(one, x);
    within(c, std::pow(x, 2) / 2);
    within(c2, std::pow(x, 3) / 3);
    within(ac, std::pow(x, 3) / 6);
    within(c3, std::pow(x, 4) / 4);
    within(by(c, ac), std::pow(x, 4) / 8);
    within(ac2, std::pow(x, 4) / 12);
    within(aac, std::pow(x, 4) / 24);
  }
  for (int i = 0; i < 7; ++i) {
    EXPECT_NEAR(m.dense[0][i] + m.dense[1][i] + m.dense[2][i] + (i == 0), a[6][i], 1e-13) << i;
    EXPECT_NEAR(2 * m.dense[0][i] + 3 * m.dense[1][i] + 4 * m.dense[2][i] + (i == 0), i == 6, 1e-13) << i;
  }
}

// A step of half the length has an error at least 2^(order + 1) times smaller; within steps the order is 4.
TEST(SolveIvp, RosenbrockMethodsHaveTheirOrder) {
  using namespace integrate::detail;
  const Field<double> f = [](double t, const A& y) -> A {
    return stack({A(y(0) * std::cos(t) - y(0) * y(1)), A(y(0) * y(1) - std::sin(t) * y(1))});
  };
  const auto errors = [&](const char* method, double h) {
    const A y{0.8, 1.1};
    Segment<double> s{method_named(method), 0.3, h, y, y, {}};
    take_step(f, y, linearise(f, s.t, y, 1000.), 1, 1, s);
    const auto exact =
        integrate::solve_ivp([&](double t, const A& at) { return f(t, at); }, {0.3, 0.3 + h}, y,
                             {.rtol = 1e-13, .atol = 1e-15, .t_eval = {0.3 + h / 3, 0.3 + h}});
    const auto apart = [&](const A& state, int i) { return max(abs(state - exact.y(ellipsis, i))).item(); };
    return std::pair{apart(s.end, 1), apart(s.at(0.3 + h / 3), 0)};
  };
  for (const auto& [method, order] : {std::pair{"rodas4", 4}, std::pair{"rodas5", 5}}) {
    const auto [end, within] = errors(method, 0.4);
    const auto [half_end, half_within] = errors(method, 0.2);
    EXPECT_GT(std::log2(end / half_end), order + 0.5) << method;
    EXPECT_GT(std::log2(within / half_within), order - 0.5) << method;
  }
}

TEST(SolveIvp, AtTimesThatAreAskedFor) {
  for (const std::string_view method : methods) {
    const A ts = linspace<double>(0, 10, 37);
    const auto s = integrate::solve_ivp(oscillator, {0., 10.}, A{1, 0},
                                        {.method = method, .rtol = 1e-8, .atol = 1e-8, .t_eval = ts});
    EXPECT_EQ(s.y.shape(), (Shape{2, 37}));
    EXPECT_TRUE(array_equal(s.t, ts).item());
    EXPECT_LT(max(abs(s.y(0) - cos(ts))).item(), 2e-6) << method;
    const auto dense = integrate::solve_ivp(
        oscillator, {0., 10.}, A{1, 0}, {.method = method, .rtol = 1e-8, .atol = 1e-8, .dense_output = true});
    for (const double t : {0., .1, 3.3, 9.99, 10.})
      EXPECT_NEAR(dense.sol(t)(0).item(), std::cos(t), 2e-6) << method;
  }
}

TEST(SolveIvp, RunsBackward) {
  for (const std::string_view method : methods) {
    const auto s = integrate::solve_ivp(oscillator, {5, 0}, A{std::cos(5.), -std::sin(5.)},
                                        {.method = method, .rtol = 1e-9, .atol = 1e-9, .t_eval = {4, 2, 0}});
    EXPECT_NEAR(s.y(0, 0).item(), std::cos(4.), 1e-6);
    EXPECT_NEAR(s.y(0, 1).item(), std::cos(2.), 1e-6);
    EXPECT_NEAR(s.y(0, 2).item(), 1, 1e-6);
  }
}

TEST(SolveIvp, ArgumentsAndShapes) {
  const A y0 = {{1, 2, 3}, {4, 5, 6}};
  const auto s = integrate::solve_ivp(decay, {0, 2}, y0, {.rtol = 1e-9, .atol = 1e-12, .args = 0.5});
  EXPECT_EQ(s.y.shape().size(), 3u);
  EXPECT_LT(max(abs(s.y(ellipsis, -1) - y0 * std::exp(-1.))).item(), 1e-7);
  const auto generic = [](auto, const auto& y, const auto& a, const auto& b) { return a * y + b; };
  const auto two = integrate::solve_ivp(generic, {0, 1}, A{1},
                                        {.rtol = 1e-9, .atol = 1e-12, .args = std::tuple{A(2.), A(1.)}});
  EXPECT_NEAR(two.y(0, -1).item(), 1.5 * std::exp(2.) - .5, 1e-6);
  const auto single = integrate::solve_ivp(
      [](double t, const Array<float>&) -> Array<float> { return Array<float>{float(2 * t)}; }, {0, 3},
      Array<float>{1.f});
  EXPECT_NEAR(single.y(0, -1).item(), 10, 1e-3);
}

// Values by SciPy's Radau, rtol 1e-12.
TEST(SolveIvp, StiffSystemOfRobertson) {
  const auto robertson = [](double, const A& y) {
    const A a = .04 * y(0), b = 1e4 * y(1) * y(2), c = 3e7 * y(1) * y(1);
    return stack(std::vector<A>{A(b - a), A(a - b - c), c});
  };
  for (const std::string_view method : {"rodas4", "rodas5", "kvaerno5"}) {
    const auto s =
        integrate::solve_ivp(robertson, {0, 4e4}, A{1, 0, 0},
                             {.method = method, .rtol = 1e-7, .atol = 1e-11, .t_eval = {.4, 40, 4e4}});
    ASSERT_TRUE(s.success) << s.message;
    EXPECT_LT(s.nsteps, 1000);
    EXPECT_NEAR(s.y(0, 0).item(), 0.98517211386, 1e-6);
    EXPECT_NEAR(s.y(0, 1).item(), 0.71582706872, 1e-6);
    EXPECT_NEAR(s.y(0, 2).item(), 0.03898337709, 1e-6);
    EXPECT_NEAR(s.y(1, 1).item(), 9.1855347646e-06, method == "kvaerno5" ? 1e-9 : 1e-10);
  }
  const auto plain = integrate::solve_ivp(robertson, {0, 4e4}, A{1, 0, 0}, {.max_steps = 2000});
  EXPECT_EQ(plain.status, -2);
  EXPECT_FALSE(plain.success);
}

// Newton's steps end where float's do. Values by SciPy's Radau, rtol 1e-12.
TEST(SolveIvp, ImplicitStepsInFloat) {
  using F = Array<float>;
  const auto decay = [](double, const F& y) -> F { return -y; };
  const auto stiff = [](double t, const F& y) -> F { return -1e3f * (y - static_cast<float>(std::cos(t))); };
  const auto robertson = [](double, const F& y) {
    const F a = .04f * y(0), b = 1e4f * y(1) * y(2), c = 3e7f * y(1) * y(1);
    return stack(std::vector<F>{F(b - a), F(a - b - c), c});
  };
  for (const double rtol : {1e-3, 1e-5, 1e-6, 1e-8})
    for (const double atol : {1e-6, 1e-9}) {
      const auto smooth =
          integrate::solve_ivp(decay, {0, 1}, F{1, 100}, {.method = "kvaerno5", .rtol = rtol, .atol = atol});
      ASSERT_TRUE(smooth.success) << smooth.message;
      EXPECT_LT(smooth.nsteps, 12);
      EXPECT_NEAR(smooth.y(1, -1).item() / 100, std::exp(-1.), std::max(rtol, 1e-5));
      EXPECT_EQ(smooth.message.find("raised") != std::string::npos, rtol < 1.19e-5) << smooth.message;
      const auto fast =
          integrate::solve_ivp(stiff, {0, 2}, F{0}, {.method = "kvaerno5", .rtol = rtol, .atol = atol});
      ASSERT_TRUE(fast.success) << fast.message;
      EXPECT_LT(fast.nsteps, 200);
      EXPECT_NEAR(fast.y(0, -1).item(), (1e6 * std::cos(2.) + 1e3 * std::sin(2.)) / (1e6 + 1), 1e-3);
      const auto slow = integrate::solve_ivp(robertson, {0, 40}, F{1, 0, 0},
                                             {.method = "kvaerno5", .rtol = rtol, .atol = atol});
      ASSERT_TRUE(slow.success) << slow.message;
      EXPECT_LT(slow.nsteps, 400);
      EXPECT_NEAR(slow.y(0, -1).item(), 0.71582706872, 2e-3);
    }
}

TEST(SolveIvp, TimeDependentStiffField) {
  const auto f = [](double t, const A& y) -> A { return -1e3 * (y - std::cos(t)); };
  for (const std::string_view method : {"rodas4", "rodas5", "kvaerno5"}) {
    const auto s = integrate::solve_ivp(f, {0, 2}, A{0}, {.method = method, .rtol = 1e-8, .atol = 1e-8});
    const double exact = (1e6 * std::cos(2.) + 1e3 * std::sin(2.)) / (1e6 + 1);
    EXPECT_NEAR(s.y(0, -1).item(), exact, 1e-6);
  }
}

TEST(SolveIvp, Events) {
  for (const std::string_view method : methods) {
    const auto zero = [](double, const A& y) { return y(0); };
    const auto s = integrate::solve_ivp(oscillator, {0, 10}, A{1, 0},
                                        {.method = method, .rtol = 1e-9, .atol = 1e-9, .events = zero});
    ASSERT_EQ(s.t_events.size(), 1u);
    ASSERT_EQ(s.t_events[0].size(), 3);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.t_events[0](i).item(), M_PI * (i + .5), 1e-6) << method;
    EXPECT_EQ(s.y_events[0].shape(), (Shape{2, 3}));
    EXPECT_NEAR(s.y_events[0](0, 1).item(), 0, 1e-7);
    const auto ended = integrate::solve_ivp(
        oscillator, {0, 10}, A{1, 0},
        {.method = method, .rtol = 1e-9, .atol = 1e-9, .events = {{zero, true, 1}, {[](double t, const A&) {
                                                                    return A(t - 2);
                                                                  }}}});
    EXPECT_EQ(ended.status, 1);
    EXPECT_TRUE(ended.success);
    EXPECT_NEAR(ended.t(-1).item(), 1.5 * M_PI, 1e-6);
    EXPECT_NEAR(ended.t_events[1](0).item(), 2, 1e-12);
    EXPECT_NEAR(ended.y(0, -1).item(), 0, 1e-6);
  }
}

TEST(SolveIvp, EventsAtTheBegin) {
  // As SciPy: a zero at the begin is an event, in its direction, and may be terminal; NaN is none.
  const auto rising = [](double, const A&) -> A { return A{1}; };
  for (const bool terminal : {false, true})
    for (const int direction : {0, 1, -1}) {
      const auto s = integrate::solve_ivp(
          rising, {0, 2}, A{0},
          {.events = {{[](double t, const A&) { return A(std::sin(3 * t)); }, terminal, direction}},
           .max_step = 0.1});
      std::vector<double> want = {0, M_PI / 3};
      if (direction == 1) want = {0};
      if (direction == -1) want = {M_PI / 3};
      if (terminal) want.resize(1);
      const std::vector<double> got = s.t_events[0].to_vector();
      ASSERT_EQ(got.size(), want.size()) << terminal << direction;
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12);
      EXPECT_EQ(s.status, terminal);
      EXPECT_NEAR(s.t(-1).item(), terminal ? want[0] : 2, 1e-12);
      EXPECT_NEAR(s.y(0, -1).item(), s.t(-1).item(), 1e-12);
    }
  const auto nan = integrate::solve_ivp(
      rising, {0, 2}, A{0},
      {.events = {{[](double t, const A& y) { return t == 0 ? A(NAN) : A(y(0)); }, true}}});
  EXPECT_EQ(nan.status, 0);
  EXPECT_EQ(nan.t_events[0].size(), 0);
}

TEST(SolveIvp, GradientsThroughTheSteps) {
  for (const std::string_view method : methods) {
    const auto last = [&](const A& rate) -> A {
      const auto s = integrate::solve_ivp(decay, {0, 2}, A{3},
                                          {.method = method, .rtol = 1e-8, .atol = 1e-10, .args = rate});
      return s.y(0, -1);
    };
    EXPECT_NEAR(grad(last)(A(.7)).item(), -2 * 3 * std::exp(-1.4), 1e-5) << method;
    const auto captured = [&](const A& y0) -> A {
      const auto s =
          integrate::solve_ivp(oscillator, {0, 1}, y0, {.method = method, .rtol = 1e-8, .atol = 1e-10});
      return s.y(0, -1);
    };
    const A g = grad(captured)(A{1, 0});
    EXPECT_NEAR(g(0).item(), std::cos(1.), 1e-6) << method;
    EXPECT_NEAR(g(1).item(), std::sin(1.), 1e-6) << method;
  }
}

TEST(SolveIvp, RefusesWhatItCannotSolve) {
  const A y0{1, 0};
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, 1}, y0, {.method = "euler"}), ValueError);
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, INFINITY}, y0), ValueError);
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, 1}, y0, {.rtol = -1}), ValueError);
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, 1}, y0, {.t_eval = {.5, 2}}), ValueError);
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, 1}, y0, {.t_eval = {.5, .4}}), ValueError);
  EXPECT_THROW(integrate::solve_ivp([](double, const A&) { return A{1}; }, {0, 1}, y0), ShapeError);
  EXPECT_THROW(integrate::solve_ivp(oscillator, {0, 1}, y0, {.args = 3.}), TypeError);
  // y' = y^2 is infinite at t = 1; sqrt is NaN from the start.
  for (const std::string_view method : methods) {
    const auto s = integrate::solve_ivp([](double, const A& y) -> A { return y * y; }, {0, 2}, A{1},
                                        {.method = method, .max_steps = 3000});
    EXPECT_LT(s.status, 0) << method;
    const auto n = integrate::solve_ivp([](double, const A& y) -> A { return sqrt(y); }, {0, 2}, A{-1},
                                        {.method = method});
    EXPECT_EQ(n.status, -1) << method;
    EXPECT_FALSE(n.message.empty());
  }
  const auto still = integrate::solve_ivp(oscillator, {1, 1}, y0);
  EXPECT_EQ(still.y.shape(), (Shape{2, 1}));
}

TEST(Odeint, FollowsJax) {
  const A ts = {0, .5, 2};
  const A y = integrate::odeint([](const A& y, double t) -> A { return -y * t; }, A{2, 1}, ts);
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(y(i, 0).item(), 2 * std::exp(-std::pow(ts(i).item(), 2) / 2), 1e-7);
  EXPECT_THROW(integrate::odeint([](const A& y, double) { return y; }, A{1}, {}), ValueError);
}

TEST(Quad, FollowsClosedForms) {
  using integrate::quad;
  const auto near = [](const auto& result, double want) {
    EXPECT_NEAR(result.value.item(), want, 2e-8);
    EXPECT_LT(result.error, 1e-6);
  };
  near(quad([](const A& x) { return sin(x); }, 0, M_PI), 2);
  near(quad([](const A& x) { return A(exp(-x * x)); }, -INFINITY, INFINITY), std::sqrt(M_PI));
  near(quad([](const A& x) { return A(exp(-x)); }, 0, INFINITY), 1);
  near(quad([](const A& x) { return A(exp(x)); }, -INFINITY, 1), std::exp(1.));
  near(quad([](const A& x) { return A(abs(x - .3)); }, 1, 0), -(.09 + .49) / 2);
  near(quad([](const A& x) { return A(1 / sqrt(x)); }, 0, 1, {.limit = 100}), 2);
  EXPECT_EQ(quad([](const A& x) { return x; }, 2, 2).value.item(), 0);
  const auto [value, error] = quad<float>([](const Array<float>& x) { return Array<float>(x * x); }, 0, 3);
  EXPECT_NEAR(value.item(), 9, 1e-5);
  const auto rough = quad([](const A& x) { return A(sin(1000 * x)); }, 0, 1, {.limit = 1});
  EXPECT_GT(rough.error, 1e-3);
  EXPECT_THROW(quad([](const A&) { return A{1}; }, 0, 1), ShapeError);
  EXPECT_THROW(quad([](const A& x) { return x; }, NAN, 1), ValueError);
}

// Singular ends and slow decay, by the limits of sums.
TEST(Quad, ExtrapolatesSingularEnds) {
  using integrate::quad;
  const auto power = [](double p) { return [p](const A& x) { return A(pow(x, -p)); }; };
  for (const double p : {.5, .75, .9}) EXPECT_NEAR(quad(power(p), 0, 1).value.item(), 1 / (1 - p), 1e-7) << p;
  EXPECT_NEAR(quad([](const A& x) { return A(log(x)); }, 0, 1).value.item(), -1, 1e-9);
  for (const double p : {3., 1.5, 1.3, 1.1}) {
    const auto f = [p](const A& x) { return A(pow(1 + x, -p)); };
    EXPECT_NEAR(quad(f, 0, INFINITY).value.item(), 1 / (p - 1), 1e-7) << p;
  }
  EXPECT_NEAR(quad([](const A& x) { return A(1 / (1 + x * x)); }, -INFINITY, INFINITY).value.item(), M_PI,
              1e-9);
  const auto slope =
      grad([](const A& p) { return quad([&](const A& x) { return A(pow(x, -p)); }, 0, 1).value; })(A(.75));
  EXPECT_NEAR(slope.item(), 16, 1e-4);
}

TEST(Quad, IsDifferentiable) {
  const auto f = [](const A& k) {
    return integrate::quad([&](const A& x) { return A(exp(-k * x)); }, 0, 2).value;
  };
  const double k = .7, e = std::exp(-2 * k);
  EXPECT_NEAR(f(A(k)).item(), (1 - e) / k, 1e-10);
  EXPECT_NEAR(grad(f)(A(k)).item(), (2 * e * k - (1 - e)) / (k * k), 1e-9);
}

}  // namespace solve_ivp_test
