#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/optimize/l_bfgs_b-inl.hpp"
#include "nax/modules/optimize/newton_methods-inl.hpp"

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
