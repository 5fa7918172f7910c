#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/minimize_run-inl.hpp"

// Minima by second derivatives: newton-cg and trust-exact.
NAX_BEGIN
namespace optimize::detail {

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

}  // namespace optimize::detail
NAX_END
