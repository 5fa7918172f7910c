#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/optimize/trust_region_squares-inl.hpp"

NAX_BEGIN
namespace optimize::detail {

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

inline void run_lm(SquaresRun& run) {
  const LeastSquaresProblem& p = run.problem;
  LeastSquaresState& s = run.state;
  const std::size_t n = s.x.size();
  StepScale scale(p.scale, s.jac);
  const auto scaled_norm = [&](const Vector& x) {
    Vector y(n);
    for (std::size_t j = 0; j < n; ++j) y[j] = scale.inverse[j] * x[j];
    return norm(y);
  };
  double fnorm = norm(run.f), xnorm = scaled_norm(s.x), par = 0;
  double delta = 100 * xnorm;
  if (delta == 0) delta = 100;
  for (bool first = true;; first = false) {
    const PivotedQr qr = pivoted_qr(s.jac, run.f);
    double gnorm = 0;  // the largest cosine between the residuals and a column
    for (std::size_t j = 0; j < n; ++j) {
      const double length = norm(Vector(s.jac.column(j), s.jac.column(j) + s.jac.rows));
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
      const double linear = norm(times(s.jac, step)) / fnorm, damped = std::sqrt(par) * pnorm / fnorm;
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
    scale.update(s.jac);
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

  SquaresRun run{function, p, {}, {}};
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
