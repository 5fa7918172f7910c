#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "nax/modules/optimize/minimize_run-inl.hpp"

NAX_BEGIN
namespace optimize::detail {

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
  // Whether a step of this slope cannot reduce the function by what ftol asks for, or by what it rounds.
  const double least = std::max(run.p.ftol, 128 * std::numeric_limits<double>::epsilon());
  const auto is_flat = [&](double slope) { return -slope <= least * std::max(std::fabs(s.fun), 1.); };
  for (; s.nit < run.p.max_steps && !run.spent(); ++s.nit) {
    const double gradient = projected_gradient(run);
    if (gradient <= run.p.gtol) {
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
      s.status = is_flat(slope) ? 0 : 2;
      return;
    }
    const double left = projected_gradient(run);
    const bool small = left <= run.p.gtol;
    // Near a minimum the function no longer tells points apart; the gradient does.
    const bool stalled = before - s.fun <= run.p.ftol * std::max({std::fabs(before), std::fabs(s.fun), 1.}) &&
                         left > gradient / 2;
    if (stalled && (restarted || small)) {
      ++s.nit;
      s.status = small || run.found || is_flat(slope) ? 0 : 2;
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

}  // namespace optimize::detail
NAX_END
