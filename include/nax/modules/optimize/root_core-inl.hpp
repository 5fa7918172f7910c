#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/optimize/root_core.hpp"

NAX_BEGIN
namespace optimize::detail {

NAX_ENGINE RootMethod root_method(std::string_view name) {
  if (name == "hybr") return RootMethod::hybr;
  if (name == "newton") return RootMethod::newton;
  if (name == "broyden") return RootMethod::broyden;
  raise<ValueError>({"root: method must be 'hybr', 'newton' or 'broyden', not '", name, "'"});
}
NAX_ENGINE const char* root_message(int status) {
  switch (status) {
    case 1:
      return "The solution converged.";
    case 0:
      return "The maximum number of steps is exceeded.";
    case -1:
      return "The iteration is not making good progress.";
    default:
      return "The Jacobian is not finite at the last point.";
  }
}

struct RootRun {
  const RootProblem& p;
  RootState s;
  double size = 0;  // the norm of s.fun

  double evaluate(const Vector& x, Vector& f) {
    ++s.nfev;
    p.value(x, f);
    return all_finite(f) ? norm(f) : std::numeric_limits<double>::infinity();
  }
  bool linearize() {
    ++s.njev;
    p.jacobian(s.x, s.jac);
    return all_finite(s.jac.data);
  }
  void accept(Vector x, Vector f, double new_size) {
    s.x = std::move(x);
    s.fun = std::move(f);
    size = new_size;
  }
  bool solved() const { return norm_inf(s.fun) <= p.ftol; }
  // Whether fun is so small that short steps mean a root.
  bool at_root() const { return solved() || size <= 1e-6 * (1 + norm(times(s.jac, s.x))); }
  Vector newton_step() const {
    Vector f = s.fun;
    for (double& e : f) e = -e;
    return least_squares_solution(pivoted_qr(s.jac, std::move(f)), rank_tolerance);
  }
  // Broyden's correction of the Jacobian for a step that changed the function by y.
  void correct(const Vector& step, const Vector& f_new) {
    const double square = dot(step, step);
    if (!(square > 0)) return;
    const Vector linear = times(s.jac, step);
    for (std::size_t i = 0; i < f_new.size(); ++i) {
      const double miss = (f_new[i] - s.fun[i] - linear[i]) / square;
      for (std::size_t j = 0; j < step.size(); ++j) s.jac(i, j) += miss * step[j];
    }
  }
};

// Powell's hybrid method (MINPACK's hybrj): doglegs in a scaled trust region, the Jacobian by Broyden's
// corrections until they fail twice.
inline void run_hybr(RootRun& run) {
  RootState& s = run.s;
  const std::size_t n = s.x.size();
  Vector d(n);
  double delta = 0;
  int slow_steps = 0, slow_jacobians = 0;
  for (bool first = true;; first = false) {
    if (!run.linearize()) {
      s.status = -2;
      return;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double length = norm(Vector(s.jac.column(j), s.jac.column(j) + n));
      d[j] = std::max(d[j], length);
      if (d[j] == 0) d[j] = 1;
    }
    const auto scaled = [&](const Vector& x) {
      Vector y(n);
      for (std::size_t j = 0; j < n; ++j) y[j] = d[j] * x[j];
      return norm(y);
    };
    if (first) {
      delta = 100 * scaled(s.x);
      if (delta == 0) delta = 100;
    }
    bool fresh = true;
    int failures = 0, successes = 0;
    while (failures < 2) {
      if (s.nit++ >= run.p.max_steps) return;
      const Vector newton = run.newton_step();
      Vector step = newton;
      if (!(scaled(newton) <= delta)) {
        // The scaled gradient's direction, then towards Newton's step.
        Vector g = transpose_times(s.jac, s.fun), down(n);
        double length = 0;
        for (std::size_t j = 0; j < n; ++j) {
          g[j] /= d[j];
          length = std::hypot(length, g[j]);
        }
        if (!(length > 0)) {
          for (std::size_t j = 0; j < n; ++j) step[j] *= delta / scaled(newton);
        } else {
          for (std::size_t j = 0; j < n; ++j) down[j] = -g[j] / length / d[j];
          const double along = norm(times(s.jac, down)), best = length / along / along;
          const double t = std::isfinite(best) ? std::min(best, delta) : delta;
          Vector rest(n);
          double a = 0, b = 0;
          for (std::size_t j = 0; j < n; ++j) {
            down[j] *= t;
            rest[j] = newton[j] - down[j];
            a += d[j] * d[j] * rest[j] * rest[j];
            b += d[j] * d[j] * rest[j] * down[j];
          }
          const double c = t * t - delta * delta;
          double part = c < 0 && a > 0 ? (-b + std::sqrt(std::max(0., b * b - a * c))) / a : 0;
          if (!std::isfinite(part)) part = 0;
          for (std::size_t j = 0; j < n; ++j) step[j] = down[j] + part * rest[j];
        }
      }
      const double pnorm = scaled(step);
      if (first && s.nit == 1) delta = std::min(delta, pnorm);
      Vector x = s.x, f;
      for (std::size_t j = 0; j < n; ++j) x[j] += step[j];
      const double size = run.evaluate(x, f);
      double actual = -1;
      if (size < run.size) actual = 1 - (size / run.size) * (size / run.size);
      Vector model = times(s.jac, step);
      for (std::size_t j = 0; j < n; ++j) model[j] += s.fun[j];
      const double left = norm(model) / run.size, predicted = left < 1 ? 1 - left * left : 0;
      const double ratio = predicted > 0 ? actual / predicted : 0;
      if (ratio < 0.1) {
        successes = 0;
        ++failures;
        delta *= 0.5;
        if (!std::isfinite(size)) delta = std::min(delta, 0.1 * pnorm);
      } else {
        failures = 0;
        ++successes;
        if (ratio >= 0.5 || successes > 1) delta = std::max(delta, 2 * pnorm);
        if (std::fabs(ratio - 1) <= 0.1) delta = 2 * pnorm;
      }
      if (std::isfinite(size)) run.correct(step, f);
      if (ratio >= 1e-4) run.accept(std::move(x), std::move(f), size);
      ++slow_steps;
      if (actual >= 0.001) slow_steps = 0;
      if (fresh) ++slow_jacobians;
      if (actual >= 0.1) slow_jacobians = 0;
      const double x_size = scaled(s.x);
      if (run.solved() || delta <= run.p.xtol * x_size) {
        // A region that shrank to nothing away from a root is no solution.
        s.status = run.at_root() ? 1 : -1;
        return;
      }
      if (0.1 * std::max(0.1 * delta, pnorm) <= std::numeric_limits<double>::epsilon() * x_size ||
          slow_jacobians == 5 || slow_steps == 10) {
        s.status = -1;
        return;
      }
      fresh = false;
    }
  }
}

// Newton's steps, or with Broyden's corrections, halved until the function falls.
inline void run_newton(RootRun& run) {
  RootState& s = run.s;
  const bool broyden = run.p.method == RootMethod::broyden;
  bool fresh = false;
  for (;;) {
    if (s.nit++ >= run.p.max_steps) return;
    if (!broyden || s.njev == 0) {
      if (!run.linearize()) {
        s.status = -2;
        return;
      }
      fresh = true;
    }
    const Vector step = run.newton_step();
    Vector x, f;
    double t = 1, size = 0;
    bool fell = false;
    for (int halvings = 0; halvings < 40; ++halvings, t /= 2) {
      x = s.x;
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += t * step[j];
      size = run.evaluate(x, f);
      fell = size <= (1 - 1e-4 * t) * run.size;
      if (fell || (broyden && !fresh && halvings == 3)) break;
    }
    const bool little = t * norm(step) <= run.p.xtol * norm(s.x);
    if (!fell) {
      if (broyden && !fresh) {  // the estimate is spoilt
        if (!run.linearize()) {
          s.status = -2;
          return;
        }
        fresh = true;
        continue;
      }
      s.status = norm(step) <= run.p.xtol * norm(s.x) && run.at_root() ? 1 : -1;
      return;
    }
    if (broyden) {
      Vector moved = step;
      for (double& e : moved) e *= t;
      run.correct(moved, f);
      fresh = false;
    }
    run.accept(std::move(x), std::move(f), size);
    if (run.solved() || (little && t == 1 && run.at_root())) {
      s.status = 1;
      return;
    }
  }
}

NAX_ENGINE RootState find_root(const RootProblem& p, const Vector& x0) {
  const std::size_t n = x0.size();
  if (n == 0) throw ValueError("root: x0 has no elements");
  if (!all_finite(x0)) throw ValueError("root: x0 is not finite");
  if (p.max_steps < 1) raise<ValueError>({"root: max_steps must be positive: ", p.max_steps});
  RootRun run{p, {}};
  run.s.x = x0;
  run.size = run.evaluate(x0, run.s.fun);
  if (run.s.fun.size() != n)
    raise<ValueError>(
        {"root: the function must return as many elements as x0 has: ", run.s.fun.size(), ", not ", n});
  if (!std::isfinite(run.size))
    raise<ValueError>({"root: the function is not finite at x0, ", n, " elements"});
  if (run.solved()) {
    run.linearize();
    run.s.status = 1;
  } else if (p.method == RootMethod::hybr) {
    run_hybr(run);
  } else {
    run_newton(run);
  }
  return std::move(run.s);
}

// ---- one number

inline void check_number(const char* function, double value, double at) {
  if (std::isnan(value)) raise<ValueError>({function, ": the function is NaN at ", InText{at}});
}
[[noreturn, gnu::cold]] inline void throw_not_converged(const char* function, std::int64_t steps, double at) {
  raise<ValueError>({function, ": not converged after max_steps = ", steps, ", at ", InText{at}});
}
inline void check_bracket(const char* function, double a, double b, double fa, double fb, double xtol,
                          double rtol) {
  if (!std::isfinite(a) || !std::isfinite(b))
    raise<ValueError>({function, ": a and b must be finite: ", InText{a}, " and ", InText{b}});
  if (!(xtol > 0)) raise<ValueError>({function, ": xtol must be positive: ", InText{xtol}});
  if (!(rtol >= 0)) raise<ValueError>({function, ": rtol must not be negative: ", InText{rtol}});
  check_number(function, fa, a);
  check_number(function, fb, b);
  if ((fa > 0 && fb > 0) || (fa < 0 && fb < 0))
    raise<ValueError>(
        {function, ": f(a) and f(b) must have different signs: ", InText{fa}, " and ", InText{fb}});
}

NAX_ENGINE double brentq(Number f, double a, double b, double xtol, double rtol, std::int64_t max_steps) {
  double before = a, now = b, f_before = f(a), f_now = f(b), other = 0, f_other = 0, last = 0, step = 0;
  check_bracket("brentq", a, b, f_before, f_now, xtol, rtol);
  if (f_before == 0) return a;
  if (f_now == 0) return b;
  for (std::int64_t k = 0; k < max_steps; ++k) {
    if (f_before != 0 && f_now != 0 && std::signbit(f_before) != std::signbit(f_now)) {
      other = before;
      f_other = f_before;
      last = step = now - before;
    }
    if (std::fabs(f_other) < std::fabs(f_now)) {
      before = now;
      now = other;
      other = before;
      f_before = f_now;
      f_now = f_other;
      f_other = f_before;
    }
    const double delta = (xtol + rtol * std::fabs(now)) / 2, half = (other - now) / 2;
    if (f_now == 0 || std::fabs(half) < delta) return now;
    if (std::fabs(last) > delta && std::fabs(f_now) < std::fabs(f_before)) {
      double guess;
      if (before == other) {
        guess = -f_now * (now - before) / (f_now - f_before);
      } else {
        const double d1 = (f_before - f_now) / (before - now), d2 = (f_other - f_now) / (other - now);
        guess = -f_now * (f_other * d2 - f_before * d1) / (d2 * d1 * (f_other - f_before));
      }
      if (2 * std::fabs(guess) < std::min(std::fabs(last), 3 * std::fabs(half) - delta)) {
        last = step;
        step = guess;
      } else {
        last = step = half;
      }
    } else {
      last = step = half;
    }
    before = now;
    f_before = f_now;
    now += std::fabs(step) > delta ? step : half > 0 ? delta : -delta;
    f_now = f(now);
    check_number("brentq", f_now, now);
  }
  throw_not_converged("brentq", max_steps, now);
}

NAX_ENGINE double bisect(Number f, double a, double b, double xtol, double rtol, std::int64_t max_steps) {
  const double fa = f(a), fb = f(b);
  check_bracket("bisect", a, b, fa, fb, xtol, rtol);
  if (fa == 0) return a;
  if (fb == 0) return b;
  double width = b - a;
  for (std::int64_t k = 0; k < max_steps; ++k) {
    width /= 2;
    const double middle = a + width, value = f(middle);
    check_number("bisect", value, middle);
    if (std::signbit(value) == std::signbit(fa)) a = middle;
    if (value == 0 || std::fabs(width) < xtol + rtol * std::fabs(middle)) return middle;
  }
  throw_not_converged("bisect", max_steps, a);
}

NAX_ENGINE double newton(FunctionRef<double(double, double&)> f, double x, double tol, double rtol,
                         std::int64_t max_steps) {
  if (!(tol > 0)) raise<ValueError>({"newton: tol must be positive: ", InText{tol}});
  for (std::int64_t k = 0; k < max_steps; ++k) {
    double slope = 0;
    const double value = f(x, slope);
    check_number("newton", value, x);
    if (value == 0) return x;
    if (slope == 0 || std::isnan(slope))
      raise<ValueError>({"newton: the derivative is ", InText{slope}, " at ", InText{x},
                         ", where the function is ", InText{value}});
    const double next = x - value / slope;
    if (std::fabs(next - x) <= tol + rtol * std::fabs(x)) return next;
    x = next;
  }
  throw_not_converged("newton", max_steps, x);
}
NAX_ENGINE double secant(Number f, double x, double tol, double rtol, std::int64_t max_steps) {
  if (!(tol > 0)) raise<ValueError>({"newton: tol must be positive: ", InText{tol}});
  double a = x, b = x * (1 + 1e-4) + (x >= 0 ? 1e-4 : -1e-4), fa = f(a), fb = f(b);
  if (std::fabs(fb) < std::fabs(fa)) {
    std::swap(a, b);
    std::swap(fa, fb);
  }
  for (std::int64_t k = 0; k < max_steps; ++k) {
    check_number("newton", fb, b);
    check_number("newton", fa, a);
    if (fa == 0) return a;
    if (fa == fb) {
      if (a == b) return a;
      raise<ValueError>({"newton: the secant is flat between ", InText{b}, " and ", InText{a},
                         ", where the function is ", InText{fa}});
    }
    const double next = a - fa * (a - b) / (fa - fb);
    if (std::fabs(next - a) <= tol + rtol * std::fabs(a)) return next;
    b = a;
    fb = fa;
    a = next;
    fa = f(a);
  }
  throw_not_converged("newton", max_steps, a);
}

NAX_ENGINE Vector iterate_to_fixed_point(FunctionRef<void(const Vector&, Vector&)> f, Vector x, double xtol,
                                         std::int64_t max_steps, std::string_view method) {
  if (method != "del2" && method != "iteration")
    raise<ValueError>({"fixed_point: method must be 'del2' or 'iteration', not '", method, "'"});
  if (!(xtol > 0)) raise<ValueError>({"fixed_point: xtol must be positive: ", InText{xtol}});
  Vector once, twice;
  for (std::int64_t k = 0; k < max_steps; ++k) {
    f(x, once);
    if (once.size() != x.size())
      raise<ValueError>({"fixed_point: the function must return as many elements as x0 has: ", once.size(),
                         ", not ", x.size()});
    Vector next = once;
    if (method == "del2") {
      f(once, twice);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double bend = twice[i] - 2 * once[i] + x[i], first = once[i] - x[i];
        next[i] = bend != 0 ? x[i] - first * first / bend : twice[i];
      }
    }
    if (!all_finite(next)) raise<ValueError>({"fixed_point: not finite after ", k + 1, " steps"});
    double change = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      change = std::max(change, x[i] != 0 ? std::fabs((next[i] - x[i]) / x[i]) : std::fabs(next[i]));
    x = std::move(next);
    if (change < xtol) return x;
  }
  raise<ValueError>({"fixed_point: not converged after max_steps = ", max_steps});
}

}  // namespace optimize::detail
NAX_END
