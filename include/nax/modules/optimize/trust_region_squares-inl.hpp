#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/squares_run-inl.hpp"

// Least squares within bounds: trf and dogbox.
NAX_BEGIN
namespace optimize::detail {

// a t^2 + b t + c, the cost along s0 + t s by the model of the Jacobian.
struct Parabola {
  double a, b, c;
  double operator()(double t) const { return (a * t + b) * t + c; }
};
inline Parabola parabola(const Matrix& jac, const Vector& g, const Vector& s, const Vector& diagonal,
                         const Vector& s0 = {}) {
  const Vector v = times(jac, s);
  Parabola q{dot(v, v), dot(g, s), 0};
  for (std::size_t i = 0; i < diagonal.size(); ++i) q.a += s[i] * diagonal[i] * s[i];
  q.a /= 2;
  if (!s0.empty()) {
    const Vector u = times(jac, s0);
    q.b += dot(u, v);
    q.c = dot(u, u) / 2 + dot(g, s0);
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      q.b += s0[i] * diagonal[i] * s[i];
      q.c += s0[i] * diagonal[i] * s0[i] / 2;
    }
  }
  return q;
}
inline std::pair<double, double> least_on(const Parabola& q, double low, double high) {
  double best = q(low) <= q(high) ? low : high;
  if (q.a != 0)
    if (const double t = -0.5 * q.b / q.a; low < t && t < high && q(t) < q(best)) best = t;
  return {best, q(best)};
}
// The step from x along s to the first bound, and which bounds are met there (-1, 0, 1).
inline double step_to_bound(const Vector& x, const Vector& s, const Vector& lower, const Vector& upper,
                            std::vector<int>* hits = nullptr) {
  double least = infinity;
  const auto to = [&](std::size_t i) {
    if (s[i] == 0) return infinity;
    return std::max((lower[i] - x[i]) / s[i], (upper[i] - x[i]) / s[i]);
  };
  for (std::size_t i = 0; i < x.size(); ++i) least = std::min(least, to(i));
  if (hits) {
    hits->assign(x.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (to(i) == least && s[i] != 0) (*hits)[i] = s[i] > 0 ? 1 : -1;
  }
  return least;
}
inline bool within(const Vector& x, const Vector& lower, const Vector& upper) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(lower[i] <= x[i] && x[i] <= upper[i])) return false;
  return true;
}
inline Vector plus(const Vector& a, const Vector& b, double factor = 1) {
  Vector sum = a;
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] += factor * b[i];
  return sum;
}
inline Vector product(const Vector& a, const Vector& b) {
  Vector out = a;
  for (std::size_t i = 0; i < a.size(); ++i) out[i] *= b[i];
  return out;
}
// Moves x inside of the bounds by a relative distance, or to the next number.
inline void make_feasible(Vector& x, const Vector& lower, const Vector& upper, double distance) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double low = lower[i], high = upper[i];
    if (x[i] <= low + (distance > 0 ? distance * std::max(1., std::fabs(low)) : 0))
      x[i] = distance > 0 ? low + distance * std::max(1., std::fabs(low)) : std::nextafter(low, high);
    else if (x[i] >= high - (distance > 0 ? distance * std::max(1., std::fabs(high)) : 0))
      x[i] = distance > 0 ? high - distance * std::max(1., std::fabs(high)) : std::nextafter(high, low);
    if (!(low < x[i] && x[i] < high)) x[i] = low + (high - low) / 2;
  }
}
// The next radius, and actual / predicted.
inline double next_radius(double& delta, double actual, double predicted, double length, bool at_edge) {
  const double ratio = predicted > 0 ? actual / predicted : predicted == 0 && actual == 0 ? 1 : 0;
  if (ratio < 0.25)
    delta = 0.25 * length;
  else if (ratio > 0.75 && at_edge)
    delta *= 2;
  return ratio;
}
inline int termination(double reduction, double cost, double step, double x, double ratio, double ftol,
                       double xtol) {
  const bool by_f = reduction < ftol * cost && ratio > 0.25, by_x = step < xtol * (xtol + x);
  return by_f && by_x ? 4 : by_f ? 2 : by_x ? 3 : 0;
}

// A radius of a quarter of a step whose cost is not finite; false where that is nothing.
inline bool shrinks(double& delta, double length) {
  delta = 0.25 * length;
  return delta > epsilon * epsilon;
}

inline void run_trf(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size(), m = s.fun.size();
  StepScale scale(p.scale, s.jac);
  Vector v(n), dv(n);  // Coleman and Li's scaling
  const auto find_scaling = [&] {
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = 1, dv[i] = 0;
      if (s.grad[i] < 0 && std::isfinite(p.upper[i]))
        v[i] = p.upper[i] - s.x[i], dv[i] = -1;
      else if (s.grad[i] > 0 && std::isfinite(p.lower[i]))
        v[i] = s.x[i] - p.lower[i], dv[i] = 1;
    }
  };
  const auto scale_bounded = [&] {
    for (std::size_t i = 0; i < n; ++i)
      if (dv[i] != 0) v[i] *= scale.inverse[i];
  };
  find_scaling();
  scale_bounded();
  Vector hat(n);
  for (std::size_t i = 0; i < n; ++i) hat[i] = s.x[i] * scale.inverse[i] / std::sqrt(v[i]);
  double delta = norm(hat), alpha = 0;
  if (!(delta > 0) || !std::isfinite(delta)) delta = 1;
  const Vector ones(n, 1.);
  for (;;) {
    find_scaling();
    const double g_norm = norm_inf(product(s.grad, v));
    if (g_norm < p.gtol || g_norm == 0) {
      s.status = 1;
      return;
    }
    if (run.spent()) return;
    scale_bounded();
    Vector d(n), diagonal(n);
    for (std::size_t i = 0; i < n; ++i) {
      d[i] = std::sqrt(v[i]) / scale.inverse[i];
      diagonal[i] = s.grad[i] * dv[i] / scale.inverse[i];
    }
    const Vector g = product(d, s.grad);
    Matrix jac(m, n), augmented(m + n, n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) augmented(i, j) = jac(i, j) = s.jac(i, j) * d[j];
      augmented(m + j, j) = std::sqrt(std::max(0., diagonal[j]));
    }
    Vector f = run.f;
    f.resize(m + n);
    const PivotedQr qr = pivoted_qr(std::move(augmented), std::move(f));
    const double theta = std::max(0.995, 1 - g_norm);
    Vector x_new, f_new;
    double actual = -1, cost_new = 0;
    while (!(actual > 0) && !run.spent()) {
      Vector p_hat = trust_region_step(qr, ones, delta, alpha);
      if (const double length = norm(p_hat); length > delta)
        for (double& e : p_hat) e *= delta / length;
      // The best of: the step to the bounds, its reflection, the gradient's direction.
      Vector step_hat = p_hat;
      double predicted;
      if (within(plus(s.x, product(d, p_hat)), p.lower, p.upper)) {
        predicted = -parabola(jac, g, p_hat, diagonal)(1);
      } else {
        std::vector<int> hits;
        const double stride = step_to_bound(s.x, product(d, p_hat), p.lower, p.upper, &hits);
        Vector r_hat = p_hat;
        for (std::size_t i = 0; i < n; ++i)
          if (hits[i]) r_hat[i] = -r_hat[i];
        for (double& e : p_hat) e *= stride;
        const Vector on_bound = plus(s.x, product(d, p_hat));
        // To the edge of the trust region along the reflection.
        const double a = dot(r_hat, r_hat), b = dot(p_hat, r_hat), c = dot(p_hat, p_hat) - delta * delta;
        const double to_edge = a > 0 ? (-b + std::sqrt(std::max(0., b * b - a * c))) / a : 0;
        const double to_wall = step_to_bound(on_bound, product(d, r_hat), p.lower, p.upper);
        double reach = std::min(to_wall, to_edge), low = 0, high = -1, reflected = infinity;
        if (reach > 0) {
          low = (1 - theta) * stride / reach;
          high = reach == to_wall ? theta * to_wall : to_edge;
        }
        if (low <= high) {
          const auto [t, value] = least_on(parabola(jac, g, r_hat, diagonal, p_hat), low, high);
          r_hat = plus(p_hat, r_hat, t);
          reflected = value;
        }
        for (double& e : p_hat) e *= theta;
        const double straight = parabola(jac, g, p_hat, diagonal)(1);
        Vector down = g;
        for (double& e : down) e = -e;
        const double steepest_edge = delta / norm(down);
        const double steepest_wall = step_to_bound(s.x, product(d, down), p.lower, p.upper);
        const double longest = steepest_wall < steepest_edge ? theta * steepest_wall : steepest_edge;
        const auto [t, steepest] = least_on(parabola(jac, g, down, diagonal), 0, longest);
        for (double& e : down) e *= t;
        const double best = std::min({straight, reflected, steepest});
        step_hat = best == straight ? p_hat : best == reflected ? r_hat : down;
        predicted = -best;
      }
      const Vector step = product(d, step_hat);
      x_new = plus(s.x, step);
      make_feasible(x_new, p.lower, p.upper, 0);
      cost_new = run.evaluate(x_new, f_new);
      const double length = norm(step_hat);
      if (!std::isfinite(cost_new)) {
        if (shrinks(delta, length)) continue;
        s.status = 3;
        return;
      }
      actual = s.cost - cost_new;
      const double before = delta;
      const double ratio = next_radius(delta, actual, predicted, length, length > 0.95 * delta);
      const double moved = norm(step), size = norm(s.x);
      s.status = termination(actual, s.cost, moved, size, ratio, p.ftol, p.xtol);
      if (s.status == 0 && moved <= epsilon * size) s.status = 3;
      if (s.status != 0) break;
      if (delta > 0) alpha *= before / delta;
    }
    if (actual > 0) {
      run.accept(std::move(x_new), std::move(f_new), cost_new);
      if (!run.linearize()) s.status = -2;
      scale.update(s.jac);
    }
    if (s.status != 0) return;
  }
}

inline void run_dogleg(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size(), m = s.fun.size();
  StepScale scale(p.scale, s.jac);
  double delta = norm_inf(product(s.x, scale.inverse));
  if (!(delta > 0)) delta = 1;
  std::vector<int> on_bound(n);
  for (std::size_t i = 0; i < n; ++i) on_bound[i] = s.x[i] == p.lower[i] ? -1 : s.x[i] == p.upper[i] ? 1 : 0;
  for (;;) {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n; ++i)
      if (!(on_bound[i] * s.grad[i] < 0)) free.push_back(i);
    const std::size_t k = free.size();
    Vector g(k), x(k), lower(k), upper(k);
    Matrix jac(m, k);
    for (std::size_t i = 0; i < k; ++i) {
      g[i] = s.grad[free[i]];
      x[i] = s.x[free[i]];
      lower[i] = p.lower[free[i]];
      upper[i] = p.upper[free[i]];
      std::copy_n(s.jac.column(free[i]), m, jac.column(i));
    }
    const double g_norm = norm_inf(g);
    if (g_norm < p.gtol || g_norm == 0) {
      s.status = 1;
      return;
    }
    if (run.spent()) return;
    Vector f = run.f;
    for (double& e : f) e = -e;
    const Vector newton =
        least_squares_solution(pivoted_qr(jac, std::move(f)), epsilon * static_cast<double>(std::max(m, k)));
    Vector down = g;
    for (double& e : down) e = -e;
    const Parabola along = parabola(jac, g, down, {});
    Vector x_new, f_new;
    std::vector<int> bound_new;
    double actual = -1, cost_new = 0;
    while (!(actual > 0) && !run.spent()) {
      // The box of both: bounds and trust region, around x.
      Vector low(k), high(k);
      std::vector<bool> wall_low(k), wall_high(k);
      for (std::size_t i = 0; i < k; ++i) {
        const double radius = delta / scale.inverse[free[i]];
        low[i] = std::max(lower[i] - x[i], -radius);
        high[i] = std::min(upper[i] - x[i], radius);
        wall_low[i] = low[i] == lower[i] - x[i];
        wall_high[i] = high[i] == upper[i] - x[i];
      }
      Vector step = newton;
      std::vector<int> met(k, 0);
      bool at_edge = false;
      if (!within(newton, low, high)) {
        const double longest = step_to_bound(Vector(k), down, low, high);
        const double t = least_on(along, 0, longest).first;
        Vector cauchy = down;
        for (double& e : cauchy) e *= t;
        const Vector rest = plus(newton, cauchy, -1);
        std::vector<int> hits;
        const double part = step_to_bound(cauchy, rest, low, high, &hits);
        for (std::size_t i = 0; i < k; ++i) {
          if (hits[i] < 0) (wall_low[i] ? met[i] = -1 : at_edge = true);
          if (hits[i] > 0) (wall_high[i] ? met[i] = 1 : at_edge = true);
        }
        step = plus(cauchy, rest, std::isfinite(part) ? part : 0);
      }
      const double predicted = -parabola(jac, g, step, {})(1);
      x_new = s.x;
      bound_new = on_bound;
      double length = 0;
      for (std::size_t i = 0; i < k; ++i) {
        x_new[free[i]] = std::min(std::max(x[i] + step[i], lower[i]), upper[i]);
        if (met[i] < 0) x_new[free[i]] = lower[i];
        if (met[i] > 0) x_new[free[i]] = upper[i];
        bound_new[free[i]] = met[i];
        length = std::max(length, std::fabs(step[i] * scale.inverse[free[i]]));
      }
      cost_new = run.evaluate(x_new, f_new);
      if (!std::isfinite(cost_new)) {
        if (shrinks(delta, length)) continue;
        s.status = 3;
        return;
      }
      actual = s.cost - cost_new;
      const double ratio = next_radius(delta, actual, predicted, length, at_edge);
      const double moved = norm(step), size = norm(s.x);
      s.status = termination(actual, s.cost, moved, size, ratio, p.ftol, p.xtol);
      if (s.status == 0 && moved <= epsilon * size) s.status = 3;
      if (s.status != 0) break;
    }
    if (actual > 0) {
      on_bound = bound_new;
      run.accept(std::move(x_new), std::move(f_new), cost_new);
      if (!run.linearize()) s.status = -2;
      scale.update(s.jac);
    }
    if (s.status != 0) return;
  }
}

}  // namespace optimize::detail
NAX_END
