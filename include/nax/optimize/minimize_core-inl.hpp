#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/optimize/minimize_core.hpp"

NAX_BEGIN
namespace optimize::detail {

NAX_ENGINE MinimizeMethod minimize_method(std::string_view name) {
  if (name == "bfgs") return MinimizeMethod::bfgs;
  if (name == "l-bfgs-b") return MinimizeMethod::l_bfgs_b;
  if (name == "newton-cg") return MinimizeMethod::newton_cg;
  if (name == "trust-exact") return MinimizeMethod::trust_exact;
  if (name == "nelder-mead") return MinimizeMethod::nelder_mead;
  if (name == "interior-point")
    throw ValueError(
        "minimize: method 'interior-point' needs constraints; for bounds alone there is 'l-bfgs-b'");
  raise<ValueError>(
      {"minimize: method must be 'bfgs', 'l-bfgs-b', 'newton-cg', 'trust-exact' or "
       "'nelder-mead', not '",
       name, "'"});
}
NAX_ENGINE const char* minimize_message(int status) {
  switch (status) {
    case 0:
      return "Optimization terminated successfully.";
    case 1:
      return "Maximum number of iterations has been exceeded.";
    case 2:
      return "Desired error not necessarily achieved due to precision loss.";
    case 4:
      return "No point near x meets the constraints.";
    case 5:
      return "The parameters grow without limit.";
    default:
      return "The function or its gradient is not finite.";
  }
}

// ---- line search

// One step of the interval of uncertainty: MINPACK-2's dcstep.
struct SearchPoint {
  double at, value, slope;
};
inline void next_trial(SearchPoint& best, SearchPoint& other, double& trial, double value, double slope,
                       bool& bracketed, double low, double high) {
  const double sign = slope * (best.slope / std::fabs(best.slope));
  const double width = trial - best.at;
  double next;
  const auto cubic_root = [&](double theta, double d, bool flip) {
    const double s = std::max({std::fabs(theta), std::fabs(d), std::fabs(slope)});
    const double gamma = s * std::sqrt(std::max(0., (theta / s) * (theta / s) - (d / s) * (slope / s)));
    return flip ? -gamma : gamma;
  };
  if (value > best.value) {  // higher: the minimum is bracketed
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial < best.at);
    const double r = (gamma - best.slope + theta) / (gamma - best.slope + gamma + slope);
    const double cubic = best.at + r * width;
    const double quadratic = best.at + best.slope / ((best.value - value) / width + best.slope) / 2 * width;
    next =
        std::fabs(cubic - best.at) < std::fabs(quadratic - best.at) ? cubic : cubic + (quadratic - cubic) / 2;
    bracketed = true;
  } else if (sign < 0) {  // lower, and the slope changed its sign
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial > best.at);
    const double r = (gamma - slope + theta) / (gamma - slope + gamma + best.slope);
    const double cubic = trial - r * width, secant = trial - slope / (slope - best.slope) * width;
    next = std::fabs(cubic - trial) > std::fabs(secant - trial) ? cubic : secant;
    bracketed = true;
  } else if (std::fabs(slope) < std::fabs(best.slope)) {  // lower, and flatter
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial > best.at);
    const double r = (gamma - slope + theta) / (gamma + (best.slope - slope) + gamma);
    const double cubic = r < 0 && gamma != 0 ? trial - r * width : trial > best.at ? high : low;
    const double secant = trial - slope / (slope - best.slope) * width;
    const bool nearer = std::fabs(cubic - trial) < std::fabs(secant - trial);
    if (bracketed) {
      next = nearer ? cubic : secant;
      const double limit = trial + 0.66 * (other.at - trial);
      next = trial > best.at ? std::min(limit, next) : std::max(limit, next);
    } else {
      next = std::min(std::max(nearer ? secant : cubic, low), high);
    }
  } else if (bracketed) {  // lower, and no flatter
    const double gap = other.at - trial;
    const double theta = 3 * (value - other.value) / gap + other.slope + slope;
    const double gamma = cubic_root(theta, other.slope, trial > other.at);
    const double r = (gamma - slope + theta) / (gamma - slope + gamma + other.slope);
    next = trial + r * gap;
  } else {
    next = trial > best.at ? high : low;
  }
  if (value > best.value) {
    other = {trial, value, slope};
  } else {
    if (sign < 0) other = best;
    best = {trial, value, slope};
  }
  trial = next;
}

NAX_ENGINE WolfeStep wolfe_search(FunctionRef<double(double, double&)> phi, double value, double slope,
                                  double alpha, const WolfeOptions& o) {
  WolfeStep out{alpha, value, slope, false};
  if (!(slope < 0) || !std::isfinite(value)) return out;
  const double test = o.c1 * slope;
  bool bracketed = false, first_stage = true;
  SearchPoint best{0, value, slope}, other = best;
  double width = o.longest, width1 = 2 * width, low = 0, high = 5 * alpha;
  for (int step = 0; step < o.max_steps; ++step) {
    double d = 0, f = phi(alpha, d);
    if (!std::isfinite(f) || !std::isfinite(d)) {  // back towards what is known
      alpha = best.at + 0.1 * (alpha - best.at);
      if (!(std::fabs(alpha - best.at) > 1e-20)) break;
      high = std::min(high, 5 * alpha);
      continue;
    }
    out = {alpha, f, d, false};
    const double line = value + alpha * test;
    if (first_stage && f <= line && d >= 0) first_stage = false;
    if (f <= line && std::fabs(d) <= o.c2 * -slope) {
      out.found = true;
      return out;
    }
    const bool stuck = bracketed && (alpha <= low || alpha >= high || high - low <= o.xtol * high);
    if (stuck || (alpha == o.longest && f <= line && d <= test)) break;
    if (first_stage && f <= best.value && f > line) {  // by the function less its line
      SearchPoint b{best.at, best.value - best.at * test, best.slope - test};
      SearchPoint e{other.at, other.value - other.at * test, other.slope - test};
      next_trial(b, e, alpha, f - alpha * test, d - test, bracketed, low, high);
      best = {b.at, b.value + b.at * test, b.slope + test};
      other = {e.at, e.value + e.at * test, e.slope + test};
    } else {
      next_trial(best, other, alpha, f, d, bracketed, low, high);
    }
    if (bracketed) {
      if (std::fabs(other.at - best.at) >= 0.66 * width1) alpha = best.at + 0.5 * (other.at - best.at);
      width1 = width;
      width = std::fabs(other.at - best.at);
      low = std::min(best.at, other.at);
      high = std::max(best.at, other.at);
    } else {
      low = alpha + 1.1 * (alpha - best.at);
      high = alpha + 4 * (alpha - best.at);
    }
    alpha = std::min(std::max(alpha, 0.), o.longest);
    if (bracketed && (alpha <= low || alpha >= high || high - low <= o.xtol * high)) alpha = best.at;
    if (!std::isfinite(alpha)) break;
    if (alpha == best.at && alpha == 0) break;
  }
  // The best point that reduces the function, though it is not flat enough.
  if (best.at > 0 && best.value < value) {
    out = {best.at, best.value, best.slope, false};
  } else {
    out.alpha = 0;
  }
  return out;
}

// ---- what the methods share

struct MinimizeRun {
  const Objective& f;
  const MinimizeProblem& p;
  MinimizeState s;

  double evaluate(const Vector& x, Vector& gradient) {
    ++s.nfev;
    ++s.njev;
    return f.value_and_gradient(x, gradient);
  }
  bool spent() const { return s.nfev >= p.max_evaluations; }
  // Goes along `direction` from s.x by the Wolfe conditions; false where no step reduces the function.
  bool search(const Vector& direction, double first, double longest, double c2, Vector* before = nullptr) {
    Vector x(s.x.size()), g;
    double best = s.fun;
    const auto phi = [&](double alpha, double& slope) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = s.x[i] + alpha * direction[i];
        if (p.bounded) x[i] = std::min(std::max(x[i], p.lower[i]), p.upper[i]);
      }
      const double value = evaluate(x, g);
      slope = dot(g, direction);
      return value;
    };
    const WolfeStep step = wolfe_search(phi, s.fun, dot(s.gradient, direction), std::min(first, longest),
                                        {.c2 = c2, .longest = longest, .max_steps = 40});
    if (!(step.alpha > 0)) return false;
    if (!step.found) {
      double slope;
      best = phi(step.alpha, slope);
      if (!(best < s.fun)) return false;
    }
    if (!step.found && !std::isfinite(best)) return false;
    // The last evaluation of a search that found its step is at that step.
    s.fun = step.found ? step.value : best;
    if (before) *before = s.gradient;
    s.x = x;
    s.gradient = g;
    return true;
  }
};
inline Vector negated(Vector x) {
  for (double& e : x) e = -e;
  return x;
}

inline void run_bfgs(MinimizeRun& run) {
  MinimizeState& s = run.s;
  const std::size_t n = s.x.size();
  Matrix& h = s.hess_inv;
  h = Matrix(n, n);
  for (std::size_t i = 0; i < n; ++i) h(i, i) = 1;
  double last = s.fun + norm(s.gradient) / 2;  // the value before
  bool identity = true;
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    if (norm_inf(s.gradient) <= run.p.gtol) {
      s.status = 0;
      return;
    }
    Vector direction = negated(times(h, s.gradient));
    double slope = dot(direction, s.gradient);
    if (!(slope < 0)) {  // rounding has spoilt the matrix
      h = Matrix(n, n);
      for (std::size_t i = 0; i < n; ++i) h(i, i) = 1;
      identity = true;
      direction = negated(s.gradient);
      slope = dot(direction, s.gradient);
    }
    double first = std::min(1., 2.02 * (s.fun - last) / slope);
    if (!(first > 0)) first = 1;
    const double before = s.fun;
    const Vector x_before = s.x;
    Vector g_before;
    if (!run.search(direction, first, 1e10, 0.9, &g_before)) {
      if (!identity) {  // once more along the gradient
        h = Matrix(n, n);
        for (std::size_t i = 0; i < n; ++i) h(i, i) = 1;
        identity = true;
        last = s.fun + norm(s.gradient) / 2;
        continue;
      }
      s.status = 2;
      return;
    }
    last = before;
    Vector step(n), y(n);
    for (std::size_t i = 0; i < n; ++i) {
      step[i] = s.x[i] - x_before[i];
      y[i] = s.gradient[i] - g_before[i];
    }
    const double sy = dot(step, y);
    if (sy > 1e-300 && std::isfinite(1 / sy)) {
      identity = false;
      const Vector hy = times(h, y);
      const double factor = (1 + dot(y, hy) / sy) / sy;
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
          h(i, j) += factor * step[i] * step[j] - (hy[i] * step[j] + step[i] * hy[j]) / sy;
    }
  }
  if (norm_inf(s.gradient) <= run.p.gtol) s.status = 0;
}

// L-BFGS-B (Byrd, Lu, Nocedal, Zhu 1995): the generalised Cauchy point of the model with B = theta I - W M
// W^T, then a minimum over the variables that are free there, then a line search.
class LimitedMemory {
 public:
  // `bounded`: with the matrices that Cauchy points within bounds need.
  LimitedMemory(std::size_t history, bool bounded) : history_(history), bounded_(bounded) {}
  double theta = 1;

  void clear() {
    s_.clear();
    y_.clear();
    theta = 1;
    middle_ = Matrix();
  }
  bool empty() const { return s_.empty(); }
  // W^T v and W v, W = [Y, theta S].
  Vector reduce(const Vector& v) const {
    Vector out;
    for (const Vector& y : y_) out.push_back(dot(y, v));
    for (const Vector& s : s_) out.push_back(theta * dot(s, v));
    return out;
  }
  Vector row(std::size_t i) const {
    Vector out;
    for (const Vector& y : y_) out.push_back(y[i]);
    for (const Vector& s : s_) out.push_back(theta * s[i]);
    return out;
  }
  Vector middle(const Vector& v) const { return times(middle_, v); }
  const Matrix& middle() const { return middle_; }

  // The step -B^-1 g to the minimum of the model without bounds (Nocedal's two loops).
  Vector step(const Vector& g) const {
    Vector d = negated(g), alpha(s_.size());
    const auto add = [&](double factor, const Vector& v) {
      for (std::size_t i = 0; i < d.size(); ++i) d[i] += factor * v[i];
    };
    for (std::size_t k = s_.size(); k-- > 0;) add(-(alpha[k] = dot(s_[k], d)), y_[k]);
    for (double& e : d) e /= theta;
    for (std::size_t k = 0; k < s_.size(); ++k) add(alpha[k] - dot(y_[k], d), s_[k]);
    return d;
  }
  // False where the matrix became singular: it is cleared then.
  bool push(Vector s, Vector y) {
    if (s_.size() == history_) {
      s_.pop_front();
      y_.pop_front();
    }
    const double curvature = dot(s, y), unit = 1 / std::sqrt(curvature);
    theta = dot(y, y) / curvature;
    for (std::size_t i = 0; i < s.size(); ++i) {  // (the model is that of any multiple of a pair)
      s[i] *= unit;
      y[i] *= unit;
    }
    s_.push_back(std::move(s));
    y_.push_back(std::move(y));
    if (!bounded_) return true;
    const std::size_t k = s_.size();
    // M = [-D L^T; L theta S^T S]^-1
    Matrix inverse(2 * k, 2 * k);
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j) {
        if (i == j) inverse(i, i) = -dot(s_[i], y_[i]);
        if (i > j) inverse(k + i, j) = inverse(j, k + i) = dot(s_[i], y_[j]);
        inverse(k + i, k + j) = theta * dot(s_[i], s_[j]);
      }
    Vector unit_of(2 * k);
    for (std::size_t i = 0; i < 2 * k; ++i) unit_of[i] = 1 / std::sqrt(std::fabs(inverse(i, i)));
    for (std::size_t j = 0; j < 2 * k; ++j)
      for (std::size_t i = 0; i < 2 * k; ++i) inverse(i, j) *= unit_of[i] * unit_of[j];
    middle_ = Matrix(2 * k, 2 * k);
    for (std::size_t j = 0; j < 2 * k; ++j) {
      Vector column(2 * k);
      column[j] = unit_of[j];
      if (!solve_general(inverse, column)) {
        clear();
        return false;
      }
      for (std::size_t i = 0; i < 2 * k; ++i) middle_(i, j) = unit_of[i] * column[i];
    }
    return true;
  }

 private:
  std::size_t history_;
  bool bounded_;
  std::deque<Vector> s_, y_;  // of each pair s y = 1
  Matrix middle_;
};

// The first minimum along the projected gradient path, and W^T (it - x).
inline Vector cauchy_point(const MinimizeRun& run, const LimitedMemory& b, Vector& c) {
  const MinimizeState& s = run.s;
  const std::size_t n = s.x.size();
  Vector x = s.x, d(n), breaks(n);
  std::vector<std::size_t> order;
  const double inf = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const double g = s.gradient[i];
    breaks[i] = g < 0 ? (s.x[i] - run.p.upper[i]) / g : g > 0 ? (s.x[i] - run.p.lower[i]) / g : inf;
    d[i] = breaks[i] <= 0 ? 0 : -g;
    if (breaks[i] > 0 && breaks[i] < inf) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return breaks[i] < breaks[j]; });
  Vector p = b.reduce(d);
  c.assign(p.size(), 0);
  double slope = -dot(d, d), curvature = -b.theta * slope - dot(p, b.middle(p));
  const double least = std::numeric_limits<double>::epsilon() * std::fabs(curvature);
  double best = curvature > 0 ? -slope / curvature : 0, from = 0;
  std::size_t k = 0;
  for (; k < order.size(); ++k) {
    const std::size_t i = order[k];
    const double t = breaks[i], dt = t - from;
    if (best < dt) break;
    const double g = s.gradient[i], bound = d[i] > 0 ? run.p.upper[i] : run.p.lower[i];
    const double z = bound - s.x[i];
    x[i] = bound;
    for (std::size_t j = 0; j < c.size(); ++j) c[j] += dt * p[j];
    const Vector w = b.row(i);
    slope += dt * curvature + g * g + b.theta * g * z - (w.empty() ? 0 : g * dot(w, b.middle(c)));
    curvature -= b.theta * g * g;
    if (!w.empty()) {
      const Vector mw = b.middle(w);
      curvature -= 2 * g * dot(mw, p) + g * g * dot(w, mw);
      for (std::size_t j = 0; j < p.size(); ++j) p[j] += g * w[j];
    }
    curvature = std::max(curvature, least);
    d[i] = 0;
    best = curvature > 0 ? -slope / curvature : 0;
    from = t;
  }
  best = std::max(best, 0.);
  for (std::size_t i = 0; i < n; ++i)
    if (d[i] != 0) x[i] = s.x[i] + (from + best) * d[i];
  for (std::size_t j = 0; j < c.size(); ++j) c[j] += best * p[j];
  return x;
}

// The direction to the minimum of the model over the variables free at the Cauchy point, projected on the
// bounds.
inline Vector subspace_point(const MinimizeRun& run, const LimitedMemory& b, const Vector& cauchy,
                             const Vector& c) {
  const MinimizeState& s = run.s;
  const std::size_t n = s.x.size(), k = c.size();
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < n; ++i)
    if (cauchy[i] > run.p.lower[i] && cauchy[i] < run.p.upper[i]) free.push_back(i);
  if (free.empty() || b.empty()) return cauchy;
  const Vector mc = b.middle(c);
  Vector r(free.size());
  std::vector<Vector> rows;
  for (std::size_t i = 0; i < free.size(); ++i) {
    rows.push_back(b.row(free[i]));
    r[i] = s.gradient[free[i]] + b.theta * (cauchy[free[i]] - s.x[free[i]]) - dot(rows[i], mc);
  }
  // Sherman, Morrison and Woodbury's formula.
  Vector v(k);
  Matrix inner(k, k);
  for (std::size_t i = 0; i < free.size(); ++i)
    for (std::size_t q = 0; q < k; ++q) {
      v[q] += rows[i][q] * r[i];
      for (std::size_t l = 0; l < k; ++l) inner(q, l) += rows[i][q] * rows[i][l] / b.theta;
    }
  v = b.middle(v);
  Matrix system(k, k);
  for (std::size_t q = 0; q < k; ++q) {
    const Vector column = b.middle(Vector(inner.column(q), inner.column(q) + k));
    for (std::size_t l = 0; l < k; ++l) system(l, q) = (l == q ? 1 : 0) - column[l];
  }
  if (!solve_general(system, v)) return cauchy;
  Vector x = cauchy;
  double part = 1;
  Vector d(free.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    d[i] = -r[i] / b.theta - dot(rows[i], v) / (b.theta * b.theta);
    const double at = cauchy[free[i]];
    if (d[i] > 0) part = std::min(part, (run.p.upper[free[i]] - at) / d[i]);
    if (d[i] < 0) part = std::min(part, (run.p.lower[free[i]] - at) / d[i]);
  }
  for (std::size_t i = 0; i < free.size(); ++i) x[free[i]] += part * d[i];
  return x;
}

inline double projected_gradient(const MinimizeRun& run) {
  double largest = 0;
  for (std::size_t i = 0; i < run.s.x.size(); ++i) {
    const double g = run.s.gradient[i], x = run.s.x[i];
    largest = std::max(largest, std::fabs(std::min(std::max(x - g, run.p.lower[i]), run.p.upper[i]) - x));
  }
  return largest;
}

inline void run_l_bfgs_b(MinimizeRun& run) {
  MinimizeState& s = run.s;
  const std::size_t n = s.x.size();
  LimitedMemory memory(static_cast<std::size_t>(run.p.history), run.p.bounded);
  bool restarted = false;
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    if (projected_gradient(run) <= run.p.gtol) {
      s.status = 0;
      return;
    }
    Vector direction(n);
    double longest = 1e10;
    if (run.p.bounded) {
      Vector c;
      const Vector cauchy = cauchy_point(run, memory, c), target = subspace_point(run, memory, cauchy, c);
      for (std::size_t i = 0; i < n; ++i) {
        const double d = direction[i] = target[i] - s.x[i];
        if (d > 0) longest = std::min(longest, (run.p.upper[i] - s.x[i]) / d);
        if (d < 0) longest = std::min(longest, (run.p.lower[i] - s.x[i]) / d);
      }
    } else {
      direction = memory.step(s.gradient);
    }
    const double slope = dot(direction, s.gradient), before = s.fun;
    const double first = memory.empty() ? std::min(1., 1 / norm(direction)) : 1;
    const Vector x_before = s.x;
    Vector g_before;
    if (!(slope < 0) || !(longest > 0) || !run.search(direction, first, longest, 0.9, &g_before)) {
      if (!memory.empty()) {
        memory.clear();
        continue;
      }
      s.status = 2;
      return;
    }
    const bool stalled = before - s.fun <= run.p.ftol * std::max({std::fabs(before), std::fabs(s.fun), 1.});
    if (stalled && (restarted || projected_gradient(run) <= run.p.gtol)) {
      ++s.nit;
      s.status = 0;
      return;
    }
    restarted = stalled;
    if (stalled) {  // the pairs may be at fault: once more along the gradient
      memory.clear();
      continue;
    }
    Vector step(n), y(n);
    for (std::size_t i = 0; i < n; ++i) {
      step[i] = s.x[i] - x_before[i];
      y[i] = s.gradient[i] - g_before[i];
    }
    if (dot(step, y) > std::numeric_limits<double>::epsilon() * std::fabs(dot(step, g_before)))
      memory.push(std::move(step), std::move(y));
  }
  if (projected_gradient(run) <= run.p.gtol) s.status = 0;
}

inline void run_newton_cg(MinimizeRun& run) {
  MinimizeState& s = run.s;
  const std::size_t n = s.x.size();
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    const double size = norm(s.gradient);
    if (norm_inf(s.gradient) <= run.p.gtol) {
      s.status = 0;
      return;
    }
    // Conjugate gradients until the residual is small beside the gradient, or curvature is negative.
    const double enough = std::min(0.5, std::sqrt(size)) * size;
    Vector z(n), r = s.gradient, d = negated(r), hd;
    for (std::size_t k = 0; k < 20 * n + 20; ++k) {
      if (norm(r) <= enough) break;
      run.f.hessian_times(s.x, d, hd);
      ++s.nhev;
      const double curvature = dot(d, hd), rr = dot(r, r);
      if (!(curvature > std::numeric_limits<double>::epsilon() * dot(d, d))) {
        if (k == 0) z = negated(s.gradient);
        break;
      }
      const double t = rr / curvature;
      for (std::size_t i = 0; i < n; ++i) {
        z[i] += t * d[i];
        r[i] += t * hd[i];
      }
      const double beta = dot(r, r) / rr;
      for (std::size_t i = 0; i < n; ++i) d[i] = -r[i] + beta * d[i];
    }
    if (!(dot(z, s.gradient) < 0)) z = negated(s.gradient);
    if (!run.search(z, 1, 1e10, 0.9)) {
      s.status = 2;
      return;
    }
  }
  if (norm_inf(s.gradient) <= run.p.gtol) s.status = 0;
}

// The step of the model g, H within |p| <= delta (More and Sorensen), and its reduction of the model.
inline Vector exact_step(const Matrix& h, const Vector& g, double delta) {
  const std::size_t n = g.size();
  Matrix l = h;
  if (cholesky_in_place(l)) {
    Vector p = negated(g);
    solve_cholesky(l, p);
    if (norm(p) <= delta) return p;
  }
  Vector w;
  Matrix q;
  symmetric_eigen(h, w, q);
  const Vector a = transpose_times(q, g);
  const double least = *std::min_element(w.begin(), w.end());
  const double largest = std::max(std::fabs(least), norm_inf(w));
  const auto at = [&](double lambda) {
    Vector y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = -a[i] / (w[i] + lambda);
    return y;
  };
  // |p(lambda)| falls on (-least, inf); the root of |p| = delta lies there, but in the hard case.
  double low = std::max(0., -least), high = low + norm(g) / delta + 1e-300;
  const double nudge = 1e-12 * std::max(largest, 1e-300);
  if (const Vector y = at(low + nudge); norm(y) < delta && least <= 0) {
    Vector p(n);
    std::size_t lowest = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (w[i] == least) lowest = i;
    const double rest = norm(y), more = std::sqrt(std::max(0., delta * delta - rest * rest));
    p = times(q, y);
    for (std::size_t i = 0; i < n; ++i) p[i] += more * q(i, lowest);
    return p;
  }
  double lambda = low + nudge;
  for (int step = 0; step < 200; ++step) {
    const Vector y = at(lambda);
    const double size = norm(y);
    if (std::fabs(size - delta) <= 0.1 * delta) break;
    (size > delta ? low : high) = lambda;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += y[i] * y[i] / (w[i] + lambda);
    double next = lambda + size * size / sum * (size - delta) / delta;  // Newton's on 1/|p|
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == lambda) break;
    lambda = next;
  }
  return times(q, at(lambda));
}

inline void run_trust_exact(MinimizeRun& run) {
  MinimizeState& s = run.s;
  double delta = 1;
  Matrix h;
  bool stale = true;
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    if (norm_inf(s.gradient) <= run.p.gtol) {
      s.status = 0;
      return;
    }
    if (stale) {
      run.f.hessian(s.x, h);
      ++s.nhev;
      if (!all_finite(h.data)) {
        s.status = 3;
        return;
      }
    }
    const Vector step = exact_step(h, s.gradient, delta);
    const double predicted = -(dot(s.gradient, step) + dot(step, times(h, step)) / 2);
    Vector x = s.x, g;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += step[i];
    const double value = run.evaluate(x, g), size = norm(step);
    const double ratio =
        std::isfinite(value) && all_finite(g) && predicted > 0 ? (s.fun - value) / predicted : -1;
    if (ratio < 0.25)
      delta = 0.25 * size;
    else if (ratio > 0.75 && size >= 0.99 * delta)
      delta = std::min(2 * delta, 1000.);
    // Differences below the precision of the function count as agreement.
    const double noise = 4 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(s.fun), 1e-300);
    stale = ratio > 0.15 || (std::isfinite(value) && value <= s.fun + noise && predicted <= noise &&
                             norm_inf(g) < norm_inf(s.gradient));
    if (stale) {
      s.x = std::move(x);
      s.gradient = std::move(g);
      s.fun = value;
    } else if (!(size > std::numeric_limits<double>::epsilon() * std::max(norm(s.x), 1e-300))) {
      s.status = 2;
      return;
    }
  }
  if (norm_inf(s.gradient) <= run.p.gtol) s.status = 0;
}

inline void run_nelder_mead(MinimizeRun& run) {
  MinimizeState& s = run.s;
  const std::size_t n = s.x.size();
  const auto clipped = [&](Vector x) {
    for (std::size_t i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], run.p.lower[i]), run.p.upper[i]);
    return x;
  };
  struct Corner {
    Vector x;
    double f;
  };
  const auto corner = [&](Vector x) {
    ++s.nfev;
    x = clipped(std::move(x));
    const double f = run.f.value(x);
    return Corner{std::move(x), std::isnan(f) ? std::numeric_limits<double>::infinity() : f};
  };
  std::vector<Corner> simplex{{s.x, s.fun}};
  for (std::size_t i = 0; i < n; ++i) {
    Vector x = s.x;
    x[i] = x[i] != 0 ? 1.05 * x[i] : 0.00025;
    if (x[i] > run.p.upper[i]) x[i] = 2 * run.p.upper[i] - x[i];
    simplex.push_back(corner(std::move(x)));
  }
  const auto order = [&] {
    std::stable_sort(simplex.begin(), simplex.end(),
                     [](const Corner& a, const Corner& b) { return a.f < b.f; });
  };
  order();
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    double width = 0, height = 0;
    for (const Corner& c : simplex) {
      for (std::size_t i = 0; i < n; ++i) width = std::max(width, std::fabs(c.x[i] - simplex[0].x[i]));
      height = std::max(height, std::fabs(c.f - simplex[0].f));
    }
    if (width <= run.p.xtol && height <= run.p.ftol) {
      s.status = 0;
      break;
    }
    Vector centre(n);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i) centre[i] += simplex[k].x[i] / static_cast<double>(n);
    Corner& worst = simplex[n];
    const auto towards = [&](double t) {
      Vector x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = centre[i] + t * (centre[i] - worst.x[i]);
      return corner(std::move(x));
    };
    Corner reflected = towards(1);
    bool shrink = false;
    if (reflected.f < simplex[0].f) {
      Corner expanded = towards(2);
      worst = expanded.f < reflected.f ? std::move(expanded) : std::move(reflected);
    } else if (reflected.f < simplex[n - 1].f) {
      worst = std::move(reflected);
    } else if (reflected.f < worst.f) {
      Corner outside = towards(0.5);
      shrink = !(outside.f <= reflected.f);
      if (!shrink) worst = std::move(outside);
    } else {
      Corner inside = towards(-0.5);
      shrink = !(inside.f < worst.f);
      if (!shrink) worst = std::move(inside);
    }
    if (shrink)
      for (std::size_t k = 1; k <= n; ++k) {
        Vector x(n);
        for (std::size_t i = 0; i < n; ++i)
          x[i] = simplex[0].x[i] + 0.5 * (simplex[k].x[i] - simplex[0].x[i]);
        simplex[k] = corner(std::move(x));
      }
    order();
  }
  s.x = simplex[0].x;
  s.fun = simplex[0].f;
}

NAX_ENGINE void check_minimize_bounds(const Vector& lower, const Vector& upper) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (!(lower[i] <= upper[i]))
      raise<ValueError>({"minimize: bounds: a lower bound must not be above its upper one: element ", i,
                         " has ", InText{lower[i]}, " and ", InText{upper[i]}});
    if (lower[i] == inf || upper[i] == -inf)
      raise<ValueError>({"minimize: bounds: no number lies between those of element ", i, ": ",
                         InText{lower[i]}, " and ", InText{upper[i]}});
  }
}

NAX_ENGINE MinimizeState minimize_vector(const Objective& f, const MinimizeProblem& p, const Vector& x0) {
  const std::size_t n = x0.size();
  if (n == 0) throw ValueError("minimize: x0 has no elements");
  if (!all_finite(x0)) throw ValueError("minimize: x0 is not finite");
  if (p.max_steps < 1) raise<ValueError>({"minimize: max_steps must be positive: ", p.max_steps});
  check_minimize_bounds(p.lower, p.upper);
  if (p.bounded && p.method != MinimizeMethod::l_bfgs_b && p.method != MinimizeMethod::nelder_mead)
    throw ValueError("minimize: bounds need method 'l-bfgs-b' or 'nelder-mead'");
  MinimizeRun run{f, p, {}};
  MinimizeState& s = run.s;
  s.x = x0;
  for (std::size_t i = 0; i < n; ++i) s.x[i] = std::min(std::max(s.x[i], p.lower[i]), p.upper[i]);
  if (p.method == MinimizeMethod::nelder_mead) {
    ++s.nfev;
    s.fun = f.value(s.x);
  } else {
    s.fun = run.evaluate(s.x, s.gradient);
  }
  if (!std::isfinite(s.fun))
    raise<ValueError>({"minimize: the function is not finite at x0: ", InText{s.fun}});
  if (!all_finite(s.gradient)) throw ValueError("minimize: the gradient is not finite at x0");
  switch (p.method) {
    case MinimizeMethod::bfgs:
      run_bfgs(run);
      break;
    case MinimizeMethod::l_bfgs_b:
      run_l_bfgs_b(run);
      break;
    case MinimizeMethod::newton_cg:
      run_newton_cg(run);
      break;
    case MinimizeMethod::trust_exact:
      run_trust_exact(run);
      break;
    case MinimizeMethod::nelder_mead:
      run_nelder_mead(run);
      break;
  }
  return std::move(run.s);
}

}  // namespace optimize::detail
NAX_END
