#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/optimize/least_squares_core.hpp"

NAX_BEGIN
namespace optimize::detail {

inline constexpr double epsilon = std::numeric_limits<double>::epsilon();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

NAX_ENGINE LeastSquaresMethod least_squares_method(const char* function, std::string_view name) {
  if (name == "lm") return LeastSquaresMethod::lm;
  if (name == "trf") return LeastSquaresMethod::trf;
  if (name == "dogleg" || name == "dogbox") return LeastSquaresMethod::dogleg;
  raise<ValueError>({function, ": method must be 'lm', 'trf' or 'dogleg', not '", name, "'"});
}
NAX_ENGINE Loss loss_named(const char* function, std::string_view name) {
  if (name == "linear") return Loss::linear;
  if (name == "huber") return Loss::huber;
  if (name == "soft_l1") return Loss::soft_l1;
  if (name == "cauchy") return Loss::cauchy;
  if (name == "arctan") return Loss::arctan;
  raise<ValueError>(
      {function, ": loss must be 'linear', 'huber', 'soft_l1', 'cauchy' or 'arctan', not '", name, "'"});
}
NAX_ENGINE const char* least_squares_message(int status) {
  switch (status) {
    case 0:
      return "The maximum number of function evaluations is exceeded.";
    case 1:
      return "`gtol` termination condition is satisfied.";
    case 2:
      return "`ftol` termination condition is satisfied.";
    case 3:
      return "`xtol` termination condition is satisfied.";
    case 4:
      return "Both `ftol` and `xtol` termination conditions are satisfied.";
    default:
      return "The Jacobian is not finite at the last point.";
  }
}
NAX_ENGINE void check_tolerance(const char* function, const char* name, double value) {
  if (!(value >= 0)) raise<ValueError>({function, ": ", name, " must not be negative: ", InText{value}});
}
NAX_ENGINE void check_bounds(const char* function, const Vector& lower, const Vector& upper,
                             const Vector& x0) {
  for (std::size_t i = 0; i < x0.size(); ++i) {
    if (!(lower[i] < upper[i]))
      raise<ValueError>({function, ": bounds: each lower bound must be below its upper one: element ", i,
                         " has ", InText{lower[i]}, " and ", InText{upper[i]}});
    if (!(lower[i] <= x0[i] && x0[i] <= upper[i]))
      raise<ValueError>({function, ": x0 must lie within bounds: element ", i, " is ", InText{x0[i]},
                         ", its bounds ", InText{lower[i]}, " and ", InText{upper[i]}});
  }
}

// ---- losses

struct Rho {
  double value, first, second;
};
inline Rho rho_of(Loss loss, double z) {
  switch (loss) {
    case Loss::linear:
      return {z, 1, 0};
    case Loss::huber:
      if (z <= 1) return {z, 1, 0};
      return {2 * std::sqrt(z) - 1, 1 / std::sqrt(z), -0.5 / (z * std::sqrt(z))};
    case Loss::soft_l1: {
      const double t = 1 + z, root = std::sqrt(t);
      return {2 * (root - 1), 1 / root, -0.5 / (t * root)};
    }
    case Loss::cauchy: {
      const double t = 1 + z;
      return {std::log1p(z), 1 / t, -1 / (t * t)};
    }
    case Loss::arctan: {
      const double t = 1 + z * z;
      return {std::atan(z), 1 / t, -2 * z / (t * t)};
    }
  }
  return {};
}
inline double cost_of(Loss loss, double scale, const Vector& f) {
  double sum = 0;
  if (loss == Loss::linear) {
    sum = dot(f, f);
  } else {
    for (const double r : f) sum += scale * scale * rho_of(loss, (r / scale) * (r / scale)).value;
  }
  return sum / 2;
}
// Weighs residuals and rows so that the normal equations are those of the loss (Triggs's, SciPy's).
inline void weigh(Loss loss, double scale, Vector& f, Matrix& jac) {
  if (loss == Loss::linear) return;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const Rho rho = rho_of(loss, (f[i] / scale) * (f[i] / scale));
    const double root =
        std::sqrt(std::max(epsilon, rho.first + 2 * rho.second / (scale * scale) * f[i] * f[i]));
    f[i] *= rho.first / root;
    for (std::size_t j = 0; j < jac.columns; ++j) jac(i, j) *= root;
  }
}

// ---- what the methods share

// A run: counts evaluations, and keeps the best point.
struct SquaresRun {
  const char* function;
  const LeastSquaresProblem& problem;
  LeastSquaresState state;
  Vector f;    // weighed
  Matrix jac;  // weighed

  double evaluate(const Vector& x, Vector& to) {
    problem.residual(x, to);
    ++state.nfev;
    return all_finite(to) ? cost_of(problem.loss, problem.f_scale, to) : infinity;
  }
  // The Jacobian at state.x, where the residuals are state.fun; false where it is not finite.
  bool linearize() {
    problem.jacobian(state.x, state.jac);
    ++state.njev;
    if (!all_finite(state.jac.data)) return false;
    f = state.fun;
    jac = state.jac;
    weigh(problem.loss, problem.f_scale, f, jac);
    state.grad = transpose_times(jac, f);
    return true;
  }
  void accept(Vector x, Vector fun, double cost) {
    state.x = std::move(x);
    state.fun = std::move(fun);
    state.cost = cost;
  }
  bool spent() const { return state.nfev >= problem.max_nfev; }
};

// The factors by which steps are measured: those given, or the columns' norms, the largest so far.
struct StepScale {
  bool by_jacobian;
  Vector inverse;
  StepScale(const Vector& given, const Matrix& jac) : by_jacobian(given.empty()) {
    for (const double s : given) inverse.push_back(1 / s);
    if (by_jacobian) {
      update(jac);
      for (double& s : inverse)
        if (s == 0) s = 1;
    }
  }
  void update(const Matrix& jac) {
    if (!by_jacobian) return;
    inverse.resize(jac.columns);
    for (std::size_t j = 0; j < jac.columns; ++j)
      inverse[j] = std::max(inverse[j], norm(Vector(jac.column(j), jac.column(j) + jac.rows)));
  }
};

inline void run_lm(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size();
  StepScale scale(p.scale, run.jac);
  const auto scaled_norm = [&](const Vector& x) {
    Vector y(n);
    for (std::size_t j = 0; j < n; ++j) y[j] = scale.inverse[j] * x[j];
    return norm(y);
  };
  double fnorm = norm(run.f), xnorm = scaled_norm(s.x), par = 0;
  double delta = 100 * xnorm;
  if (delta == 0) delta = 100;
  for (bool first = true;; first = false) {
    const PivotedQr qr = pivoted_qr(run.jac, run.f);
    double gnorm = 0;  // the largest cosine between the residuals and a column
    for (std::size_t j = 0; j < n; ++j) {
      const double length = norm(Vector(run.jac.column(j), run.jac.column(j) + run.jac.rows));
      if (length > 0 && fnorm > 0) gnorm = std::max(gnorm, std::fabs(s.grad[j] / length / fnorm));
    }
    if (gnorm <= p.gtol) {
      s.status = 1;
      return;
    }
    for (double ratio = 0; ratio < 1e-4;) {
      if (run.spent()) return;
      Vector step = trust_region_step(qr, scale.inverse, delta, par);
      Vector x = s.x, f;
      for (std::size_t j = 0; j < n; ++j) x[j] += step[j];
      const double pnorm = scaled_norm(step);
      if (first) delta = std::min(delta, pnorm);
      const double cost = run.evaluate(x, f), fnorm1 = std::isfinite(cost) ? norm(f) : infinity;
      double actual = -1;
      if (0.1 * fnorm1 < fnorm) actual = 1 - (fnorm1 / fnorm) * (fnorm1 / fnorm);
      const double linear = norm(times(run.jac, step)) / fnorm, damped = std::sqrt(par) * pnorm / fnorm;
      const double predicted = linear * linear + 2 * damped * damped;
      const double slope = -(linear * linear + damped * damped);
      ratio = predicted != 0 ? actual / predicted : 0;
      if (!(ratio > 0.25)) {
        double part = actual >= 0 ? 0.5 : 0.5 * slope / (slope + 0.5 * actual);
        if (0.1 * fnorm1 >= fnorm || !(part >= 0.1)) part = 0.1;
        delta = part * std::min(delta, 10 * pnorm);
        par /= part;
      } else if (par == 0 || ratio >= 0.75) {
        delta = 2 * pnorm;
        par *= 0.5;
      }
      bool finite = true;
      if (ratio >= 1e-4) {
        run.accept(std::move(x), std::move(f), cost);
        xnorm = scaled_norm(s.x);
        fnorm = fnorm1;
        first = false;
        finite = run.linearize();
      }
      const auto little = [&](double tolerance) {
        return std::fabs(actual) <= tolerance && predicted <= tolerance && 0.5 * ratio <= 1;
      };
      const bool by_f = little(p.ftol), by_x = delta <= p.xtol * xnorm;
      if (by_f || by_x) s.status = by_f && by_x ? 4 : by_f ? 2 : 3;
      // Tolerances below the precision of numbers end a run all the same.
      if (s.status == 0 && little(epsilon)) s.status = 2;
      if (s.status == 0 && delta <= epsilon * xnorm) s.status = 3;
      if (s.status == 0 && gnorm <= epsilon) s.status = 1;
      if (!finite) s.status = -2;
      if (s.status != 0) return;
    }
    scale.update(run.jac);
  }
}

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

inline void run_trf(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size(), m = s.fun.size();
  StepScale scale(p.scale, run.jac);
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
      for (std::size_t i = 0; i < m; ++i) augmented(i, j) = jac(i, j) = run.jac(i, j) * d[j];
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
        delta = 0.25 * length;
        if (!(delta > epsilon * epsilon)) {
          s.status = 3;
          return;
        }
        continue;
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
      scale.update(run.jac);
    }
    if (s.status != 0) return;
  }
}

inline void run_dogleg(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size(), m = s.fun.size();
  StepScale scale(p.scale, run.jac);
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
      std::copy_n(run.jac.column(free[i]), m, jac.column(i));
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
        delta = 0.25 * length;
        if (!(delta > epsilon * epsilon)) {
          s.status = 3;
          return;
        }
        continue;
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
      scale.update(run.jac);
    }
    if (s.status != 0) return;
  }
}

NAX_ENGINE LeastSquaresState minimize_squares(const char* function, const LeastSquaresProblem& p,
                                              const Vector& x0) {
  const std::size_t n = x0.size();
  check_tolerance(function, "ftol", p.ftol);
  check_tolerance(function, "xtol", p.xtol);
  check_tolerance(function, "gtol", p.gtol);
  if (!(p.f_scale > 0)) raise<ValueError>({function, ": f_scale must be positive: ", InText{p.f_scale}});
  for (const double scale : p.scale)
    if (!(scale > 0) || !std::isfinite(scale))
      raise<ValueError>({function, ": x_scale must be positive: ", InText{scale}});
  if (p.max_nfev < 1) raise<ValueError>({function, ": max_nfev must be positive: ", p.max_nfev});
  if (n == 0) raise<ValueError>({function, ": x0 has no elements"});
  if (!all_finite(x0)) raise<ValueError>({function, ": x0 is not finite"});
  check_bounds(function, p.lower, p.upper, x0);
  bool bounded = false;
  for (std::size_t i = 0; i < n; ++i)
    bounded = bounded || std::isfinite(p.lower[i]) || std::isfinite(p.upper[i]);
  // A trust region without bounds is Levenberg and Marquardt's; trf goes on where MINPACK's does not.
  const bool lm = p.method == LeastSquaresMethod::lm && !bounded && p.loss == Loss::linear;

  SquaresRun run{function, p, {}, {}, {}};
  LeastSquaresState& s = run.state;
  s.x = x0;
  if (bounded && p.method != LeastSquaresMethod::dogleg) make_feasible(s.x, p.lower, p.upper, 1e-10);
  s.cost = run.evaluate(s.x, s.fun);
  const std::size_t m = s.fun.size();
  if (m == 0) raise<ValueError>({function, ": residual returns no elements at x0"});
  if (!std::isfinite(s.cost))
    raise<ValueError>({function, ": residual is not finite at x0: ", m, " residuals of ", n, " parameters"});
  if (p.method == LeastSquaresMethod::lm && m < n)
    raise<ValueError>({function, ": method 'lm' needs as many residuals as parameters: ", m, " residuals, ",
                       n, " parameters"});
  if (!run.linearize())
    raise<ValueError>({function, ": the Jacobian of residual is not finite at x0: ", m, " residuals of ", n,
                       " parameters"});
  if (lm)
    run_lm(run);
  else if (p.method == LeastSquaresMethod::dogleg)
    run_dogleg(run);
  else
    run_trf(run);

  s.active_mask.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double nearby = p.method == LeastSquaresMethod::dogleg ? 0 : std::max(p.xtol, epsilon);
    const double low = s.x[i] - p.lower[i], high = p.upper[i] - s.x[i];
    if (std::isfinite(p.lower[i]) && low <= nearby * std::max(1., std::fabs(p.lower[i])) && low <= high)
      s.active_mask[i] = -1;
    else if (std::isfinite(p.upper[i]) && high <= nearby * std::max(1., std::fabs(p.upper[i])))
      s.active_mask[i] = 1;
  }
  double optimality = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double g = std::fabs(s.grad[i]);
    if (p.method == LeastSquaresMethod::dogleg) {
      if (s.active_mask[i] * s.grad[i] < 0) g = 0;
    } else {
      if (s.grad[i] < 0 && std::isfinite(p.upper[i])) g *= p.upper[i] - s.x[i];
      if (s.grad[i] > 0 && std::isfinite(p.lower[i])) g *= s.x[i] - p.lower[i];
    }
    optimality = std::max(optimality, g);
  }
  s.optimality = optimality;
  return std::move(run.state);
}

}  // namespace optimize::detail
NAX_END
