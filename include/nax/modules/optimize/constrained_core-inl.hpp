#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/optimize/skyline-inl.hpp"

NAX_BEGIN
namespace optimize::detail {

// A. Waechter, L. T. Biegler, On the implementation of an interior-point filter line-search algorithm (2006):
// slacks s >= 0 of inequalities, log barriers of slacks and bounds, Newton's steps on the equations of the
// barrier problem, a filter of (violation, barrier function). Systems are condensed to x: equalities enter
// with a weight and are met by a few steps of multipliers, so that a Cholesky factorisation tells whether
// second derivatives are positive along the constraints.
class InteriorPoint {
 public:
  InteriorPoint(const ConstrainedFunctions& functions, const ConstrainedProblem& problem, const Vector& x0)
      : functions_(functions),
        p_(problem),
        n_(x0.size()),
        m_(problem.equality.size()),
        lower_(problem.lower),
        upper_(problem.upper) {
    out_.x = start_ = x0;
  }

  ConstrainedState run() {
    if (!start()) return finish(3);
    for (;; ++out_.nit) {
      if (error(0) <= p_.tol && !rescale()) return finish(0);
      if (out_.nit >= p_.max_steps) return finish(1);
      if (norm_inf(out_.x) > 1e12 * std::max(1., norm_inf(start_))) return finish(5);
      while (error(mu_) <= 10 * mu_ && mu_ > p_.tol / 10) {
        mu_ = std::max(p_.tol / 10, std::min(0.2 * mu_, std::pow(mu_, 1.5)));
        filter_.clear();
      }
      if (!direction(c_, s_residual())) return finish(2);
      if (search()) {
        if (!finite()) return finish(3);
        continue;
      }
      // No step serves: near the end of what the numbers allow, or far from all that is feasible.
      if (rescale()) continue;
      if (error(0) <= 1e3 * p_.tol) return finish(2);
      if (violation(c_, s_) <= p_.tol || !restore())
        return finish(!finite() ? 3 : violation(c_, s_) > 1e-6 ? 4 : 2);
    }
  }

 private:
  bool has_lower(std::size_t i) const { return std::isfinite(lower_[i]); }
  bool has_upper(std::size_t i) const { return std::isfinite(upper_[i]); }

  double values(const Vector& x, Vector& c) {
    ++out_.nfev;
    double f = functions_.values(x, c);
    for (std::size_t i = 0; i < m_; ++i) c[i] *= c_scale_[i];
    return f * f_scale_;
  }
  void derivatives() {
    ++out_.nhev;
    Vector given(m_);
    for (std::size_t i = 0; i < m_; ++i) given[i] = y_[i] * c_scale_[i] / f_scale_;
    functions_.derivatives(out_.x, given, gradient_, hessian_, jacobian_);
    for (double& each : gradient_) each *= f_scale_;
    for (double& each : hessian_.values) each *= f_scale_;
    for (std::size_t i = 0; i < m_; ++i)
      for (std::int32_t k = jacobian_.starts[i]; k < jacobian_.starts[i + 1]; ++k)
        jacobian_.values[static_cast<std::size_t>(k)] *= c_scale_[i];
  }
  bool finite() const {
    return std::isfinite(f_) && all_finite(c_) && all_finite(gradient_) && all_finite(jacobian_.values) &&
           all_finite(hessian_.values);
  }

  static double scale_for(double largest) {
    return std::max(1e-8, std::min(1., 100 / std::max(1e-300, largest)));
  }
  double largest_in_row(std::size_t i) const {
    double largest = 0;
    for (std::int32_t k = jacobian_.starts[i]; k < jacobian_.starts[i + 1]; ++k)
      largest = std::max(largest, std::fabs(jacobian_.values[static_cast<std::size_t>(k)]));
    return largest;
  }

  bool start() {
    check_minimize_bounds(lower_, upper_);
    c_scale_.assign(m_, 1.);
    y_.assign(m_, 0.);
    s_.assign(m_, 0.), z_.assign(m_, 0.);
    for (std::size_t i = 0; i < n_; ++i) {
      // A little wider where bounds are equal, so that they have something between.
      const double wide = 1e-8 * std::max(1., has_lower(i) ? std::fabs(lower_[i]) : 0);
      if (upper_[i] - lower_[i] < 2 * wide) lower_[i] -= wide, upper_[i] += wide;
      double& x = out_.x[i];
      const double width = upper_[i] - lower_[i];
      const auto inside = [&](double bound) {
        return std::min(1e-2 * std::max(1., std::fabs(bound)), 1e-2 * width);
      };
      if (has_lower(i)) x = std::max(x, lower_[i] + inside(lower_[i]));
      if (has_upper(i)) x = std::min(x, upper_[i] - inside(upper_[i]));
    }
    c_.assign(m_, 0.);
    f_ = values(out_.x, c_);
    if (!std::isfinite(f_) || !all_finite(c_))
      raise<ValueError>({"minimize: the function or the constraints are not finite at x0"});
    derivatives();
    if (!finite()) raise<ValueError>({"minimize: derivatives are not finite at x0"});
    f_scale_ = scale_for(norm_inf(gradient_));
    for (std::size_t i = 0; i < m_; ++i) {
      c_scale_[i] = scale_for(largest_in_row(i));
      c_[i] *= c_scale_[i];
      if (!p_.equality[i]) s_[i] = std::max(c_[i], 1e-2), z_[i] = mu_ / s_[i], y_[i] = -z_[i];
    }
    f_ *= f_scale_;
    zl_.assign(n_, 0.), zu_.assign(n_, 0.);
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i)) zl_[i] = 1;
      if (has_upper(i)) zu_[i] = 1;
    }
    derivatives();
    return finite();
  }

  // Where the scales, taken at x0, hide residuals that are large without them: new ones, of x. False where
  // the residuals are small, or the scales fit.
  bool rescale() {
    double most = 0;
    for (const double each : hessian_.values) most = std::max(most, std::fabs(each));
    const Residuals left = residuals(0);
    const double rounding = 1e-13 * std::max(1., norm_inf(out_.x));
    bool small = left.dual <= 1e-4 * f_scale_ + rounding * most &&
                 left.complement <= 1e-4 * f_scale_ + 1e-9 * std::fabs(f_);
    for (std::size_t i = 0; i < m_; ++i)
      small = small && std::fabs(c_[i] - s_[i]) <= 1e-6 * c_scale_[i] + rounding * largest_in_row(i);
    if (small) return false;
    Vector of_f = gradient_, minus(m_);
    for (std::size_t i = 0; i < m_; ++i) minus[i] = -y_[i];
    add_transpose_times(jacobian_, minus, of_f);
    // (At most so much that p_.tol is above what rounding leaves.)
    const double by_f = std::max(1., std::min(scale_for(norm_inf(of_f) / f_scale_) / f_scale_,
                                              p_.tol / std::max(1e-300, rounding * most)));
    double most_by = by_f;
    Vector by_c(m_);
    for (std::size_t i = 0; i < m_; ++i) {
      by_c[i] = std::max(1., scale_for(largest_in_row(i) / c_scale_[i]) / c_scale_[i]);
      most_by = std::max(most_by, by_c[i]);
    }
    if (most_by < 2) return false;
    f_scale_ *= by_f;
    f_ *= by_f, mu_ = std::min(0.1, mu_ * by_f), last_shift_ *= by_f;
    for (std::size_t i = 0; i < m_; ++i) {
      c_scale_[i] *= by_c[i], c_[i] *= by_c[i], s_[i] *= by_c[i];
      y_[i] *= by_f / by_c[i], z_[i] *= by_f / by_c[i];
    }
    for (std::size_t i = 0; i < n_; ++i) zl_[i] *= by_f, zu_[i] *= by_f;
    filter_.clear();
    most_violation_ = 0;
    derivatives();
    return true;
  }

  Vector s_residual() const {
    Vector r(m_);
    for (std::size_t i = 0; i < m_; ++i) r[i] = c_[i] - s_[i];
    return r;
  }
  double violation(const Vector& c, const Vector& s) const {
    double sum = 0;
    for (std::size_t i = 0; i < m_; ++i) sum += std::fabs(c[i] - s[i]);
    return sum;
  }
  double barrier(double f, const Vector& x, const Vector& s) const {
    double sum = f;
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i)) sum -= mu_ * std::log(x[i] - lower_[i]);
      if (has_upper(i)) sum -= mu_ * std::log(upper_[i] - x[i]);
    }
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i]) sum -= mu_ * std::log(s[i]);
    return sum;
  }
  // The largest residuals of the equations at barrier mu.
  struct Residuals {
    double dual = 0, primal = 0, complement = 0;
  };
  Residuals residuals(double mu) const {
    Residuals left;
    auto& [dual, primal, complement] = left;
    double sum = 0;
    std::size_t count = m_;
    for (std::size_t i = 0; i < n_; ++i) {
      dual = std::max(dual, std::fabs(gradient_[i] - zl_[i] + zu_[i]));
      if (has_lower(i)) complement = std::max(complement, std::fabs((out_.x[i] - lower_[i]) * zl_[i] - mu));
      if (has_upper(i)) complement = std::max(complement, std::fabs((upper_[i] - out_.x[i]) * zu_[i] - mu));
      sum += zl_[i] + zu_[i];
      count += has_lower(i) + has_upper(i);
    }
    for (std::size_t i = 0; i < m_; ++i) {
      primal = std::max(primal, std::fabs(c_[i] - s_[i]));
      sum += std::fabs(y_[i]);
      if (p_.equality[i]) continue;
      dual = std::max(dual, std::fabs(-y_[i] - z_[i]));
      complement = std::max(complement, std::fabs(s_[i] * z_[i] - mu));
    }
    const double scale = std::max(100., count > 0 ? sum / static_cast<double>(count) : 0.) / 100;
    dual /= scale, complement /= scale;
    return left;
  }
  double error(double mu) const {
    const Residuals left = residuals(mu);
    return std::max({left.dual, left.primal, left.complement});
  }

  // Solves for the step with the right sides -c of equalities and -r of inequalities with their slacks.
  bool direction(const Vector& c, const Vector& r) {
    Vector diagonal(n_), right(n_), weights(m_);
    double largest = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      right[i] = -gradient_[i];
      if (has_lower(i)) {
        diagonal[i] += zl_[i] / (out_.x[i] - lower_[i]);
        right[i] += mu_ / (out_.x[i] - lower_[i]);
      }
      if (has_upper(i)) {
        diagonal[i] += zu_[i] / (upper_[i] - out_.x[i]);
        right[i] -= mu_ / (upper_[i] - out_.x[i]);
      }
    }
    for (const double each : hessian_.values) largest = std::max(largest, std::fabs(each));
    Vector pull(m_);
    for (std::size_t i = 0; i < m_; ++i) {
      // (Of flat equalities more, so that they count too.)
      const double steepest = largest_in_row(i);
      const double flat = steepest > 0 ? std::clamp(steepest * steepest, 1e-16, 1.) : 1;
      weights[i] = p_.equality[i] ? 1e6 * largest / flat : z_[i] / s_[i];
      if (!p_.equality[i]) pull[i] = -(weights[i] * r[i] + slack_gradient(i));
    }
    add_transpose_times(jacobian_, pull, right);
    if (!matrix_) matrix_.emplace(n_, hessian_, jacobian_);
    double shift = 0;
    for (int turn = 0;; ++turn) {
      Vector shifted = diagonal;
      for (double& each : shifted) each += shift;
      matrix_->assemble(hessian_, shifted, jacobian_, weights);
      if (matrix_->factor()) break;
      if (turn > 40) return false;
      shift = shift > 0 ? 8 * shift : std::max(1e-10, last_shift_ > 0 ? last_shift_ / 3 : 1e-4);
    }
    if (shift > 0) last_shift_ = shift;
    // Multipliers until the equalities are met.
    dy_.assign(m_, 0.);
    Vector best;
    double residual = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < 8; ++turn) {
      Vector step = right, equal(m_);
      for (std::size_t i = 0; i < m_; ++i)
        if (p_.equality[i]) equal[i] = -dy_[i] - weights[i] * c[i];
      add_transpose_times(jacobian_, equal, step);
      matrix_->solve(step);
      const Vector moved = sparse_times(jacobian_, step);
      double left = 0;
      Vector next = dy_;
      for (std::size_t i = 0; i < m_; ++i)
        if (p_.equality[i]) {
          left = std::max(left, std::fabs(moved[i] + c[i]));
          next[i] += weights[i] * (moved[i] + c[i]);
        }
      if (!(left < 0.5 * residual)) break;
      residual = left;
      dx_ = step;
      moved_ = moved;
      dy_ = next;
      if (left <= 1e-14) break;
    }
    if (!(residual < std::numeric_limits<double>::infinity()) || !all_finite(dx_)) return false;
    ds_.assign(m_, 0.);
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i]) {
        ds_[i] = moved_[i] + r[i];
        dy_[i] = weights[i] * ds_[i] + slack_gradient(i);
      }
    return true;
  }
  // The derivative of the barrier function's Lagrangian in slack i.
  double slack_gradient(std::size_t i) const { return -y_[i] - mu_ / s_[i]; }

  // The longest part of a step that leaves `tau` of the distance to each bound.
  double longest(const Vector& dx, const Vector& ds) const {
    const double tau = std::max(0.99, 1 - mu_);
    double a = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i) && dx[i] < 0) a = std::min(a, -tau * (out_.x[i] - lower_[i]) / dx[i]);
      if (has_upper(i) && dx[i] > 0) a = std::min(a, tau * (upper_[i] - out_.x[i]) / dx[i]);
    }
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i] && ds[i] < 0) a = std::min(a, -tau * s_[i] / ds[i]);
    return a;
  }
  double longest_dual() const {
    const double tau = std::max(0.99, 1 - mu_);
    double a = 1;
    const auto limit = [&](double z, double dz) {
      if (dz < 0) a = std::min(a, -tau * z / dz);
    };
    for (std::size_t i = 0; i < n_; ++i) limit(zl_[i], dzl_[i]), limit(zu_[i], dzu_[i]);
    for (std::size_t i = 0; i < m_; ++i) limit(z_[i], dz_[i]);
    return a;
  }
  void dual_steps() {
    dzl_.assign(n_, 0.), dzu_.assign(n_, 0.), dz_.assign(m_, 0.);
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i)) {
        const double gap = out_.x[i] - lower_[i];
        dzl_[i] = mu_ / gap - zl_[i] - zl_[i] / gap * dx_[i];
      }
      if (has_upper(i)) {
        const double gap = upper_[i] - out_.x[i];
        dzu_[i] = mu_ / gap - zu_[i] + zu_[i] / gap * dx_[i];
      }
    }
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i]) dz_[i] = mu_ / s_[i] - z_[i] - z_[i] / s_[i] * ds_[i];
  }

  bool in_filter(double theta, double phi) const {
    for (const auto& [t, f] : filter_)
      if (theta >= t && phi >= f) return true;
    return false;
  }

  bool search() {
    dual_steps();
    const double theta = violation(c_, s_), phi = barrier(f_, out_.x, s_);
    if (most_violation_ == 0) most_violation_ = 1e4 * std::max(1., theta);
    // The slope of the barrier function.
    Vector without = gradient_, minus(m_);
    for (std::size_t i = 0; i < m_; ++i) minus[i] = -y_[i];
    add_transpose_times(jacobian_, minus, without);
    double slope = dot(without, dx_);
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i)) slope -= mu_ / (out_.x[i] - lower_[i]) * dx_[i];
      if (has_upper(i)) slope += mu_ / (upper_[i] - out_.x[i]) * dx_[i];
    }
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i]) slope -= mu_ / s_[i] * ds_[i];
    const double slack = 10 * std::numeric_limits<double>::epsilon() * std::fabs(phi);
    const bool small = theta <= 1e-4 * std::max(1., most_violation_ / 1e4);

    const Vector dx = dx_, ds = ds_, dy = dy_;
    Vector x(n_), s(m_), c(m_);
    double f = 0;
    // Does the point along (dx_, ds_) at alpha serve? `share` of the first step, for the tests.
    const auto serves = [&](double alpha, double share, bool& armijo) {
      for (std::size_t i = 0; i < n_; ++i) x[i] = out_.x[i] + alpha * dx_[i];
      for (std::size_t i = 0; i < m_; ++i) s[i] = s_[i] + alpha * ds_[i];
      f = values(x, c);
      if (!std::isfinite(f) || !all_finite(c)) return false;
      const double t = violation(c, s), b = barrier(f, x, s);
      if (!(t <= most_violation_) || in_filter(t, b)) return false;
      const bool switching = slope < 0 && share * std::pow(-slope, 2.3) > std::pow(theta, 1.1);
      armijo = small && switching;
      if (armijo) return b - phi - slack <= 1e-4 * share * slope;
      return t <= (1 - 1e-5) * theta || b - slack <= phi - 1e-5 * theta;
    };
    double alpha = longest(dx_, ds_);
    const double first = alpha;
    bool found = false, armijo = false;
    for (int turn = 0; turn < 40 && !found; ++turn, alpha = found ? alpha : alpha / 2) {
      found = serves(alpha, alpha, armijo);
      if (found) break;
      if (turn == 0 && std::isfinite(f) && all_finite(c) && violation(c, s) >= theta) {
        // Second order: the step once more, with what the constraints are at its end.
        Vector equal(m_), rest(m_);
        for (std::size_t i = 0; i < m_; ++i) {
          equal[i] = alpha * c_[i] + c[i];
          rest[i] = alpha * (c_[i] - s_[i]) + c[i] - s[i];
        }
        if (direction(equal, rest)) {
          const double part = longest(dx_, ds_);
          found = serves(part, first, armijo);
          if (found) {
            alpha = part;
            dy_ = dy;
            break;
          }
        }
        dx_ = dx, ds_ = ds, dy_ = dy;
      }
    }
    if (!found) return false;
    if (!armijo) filter_.emplace_back((1 - 1e-5) * theta, phi - 1e-5 * theta);
    const double dual = longest_dual();
    out_.x = x, s_ = s, c_ = c, f_ = f;
    for (std::size_t i = 0; i < m_; ++i) y_[i] += first * dy_[i];
    for (std::size_t i = 0; i < n_; ++i) {
      const auto keep = [&](double z, double gap) {
        return std::max(std::min(z, 1e10 * mu_ / gap), mu_ / (1e10 * gap));
      };
      if (has_lower(i)) zl_[i] = keep(zl_[i] + dual * dzl_[i], x[i] - lower_[i]);
      if (has_upper(i)) zu_[i] = keep(zu_[i] + dual * dzu_[i], upper_[i] - x[i]);
    }
    for (std::size_t i = 0; i < m_; ++i)
      if (!p_.equality[i]) {
        z_[i] = std::max(std::min(z_[i] + dual * dz_[i], 1e10 * mu_ / s_[i]), mu_ / (1e10 * s_[i]));
      }
    derivatives();
    return true;
  }

  // Steps of Levenberg and Marquardt's on the constraints alone, until the filter accepts a point.
  bool restore() {
    const double from = violation(c_, s_);
    filter_.emplace_back((1 - 1e-5) * from, barrier(f_, out_.x, s_) - 1e-5 * from);
    double damping = 1e-4;
    const SparseRows none{std::vector<std::int32_t>(n_ + 1, 0), {}, {}};
    for (int turn = 0; turn < 200; ++turn) {
      Vector r(m_), weights(m_, 1.), right(n_), diagonal(n_, damping);
      for (std::size_t i = 0; i < m_; ++i) {
        r[i] = p_.equality[i] ? c_[i] : std::min(0., c_[i] - 1e-6);
        weights[i] = r[i] != 0 ? 1 : 0;
        r[i] = -r[i];
      }
      double before = 0;
      for (const double each : r) before += each * each;
      add_transpose_times(jacobian_, r, right);
      // (Bounds push away.)
      for (std::size_t i = 0; i < n_; ++i) {
        if (has_lower(i)) diagonal[i] += 1e-6 / std::pow(out_.x[i] - lower_[i], 2);
        if (has_upper(i)) diagonal[i] += 1e-6 / std::pow(upper_[i] - out_.x[i], 2);
      }
      matrix_->assemble(none, diagonal, jacobian_, weights);
      if (!matrix_->factor()) {
        damping *= 10;
        continue;
      }
      matrix_->solve(right);
      const double part = longest(right, Vector(m_));
      Vector x = out_.x, c(m_);
      for (std::size_t i = 0; i < n_; ++i) x[i] += part * right[i];
      const double f = values(x, c);
      double after = 0;
      for (std::size_t i = 0; i < m_; ++i)
        after += std::pow(p_.equality[i] ? c[i] : std::min(0., c[i] - 1e-6), 2);
      if (!std::isfinite(f) || !(after < before)) {
        if (damping > 1e12) return false;
        damping *= 10;
        continue;
      }
      const bool little = after > (1 - 1e-10) * before;
      damping = std::max(1e-10, damping / 10);
      out_.x = x, c_ = c, f_ = f;
      for (std::size_t i = 0; i < m_; ++i)
        if (!p_.equality[i]) s_[i] = std::max(c[i], 1e-6);
      for (std::size_t i = 0; i < m_; ++i) y_[i] = p_.equality[i] ? 0 : -(z_[i] = mu_ / s_[i]);
      derivatives();
      if (!finite()) return false;
      const double theta = violation(c_, s_);
      if (theta <= 0.9 * from && !in_filter(theta, barrier(f_, x, s_))) return true;
      if (little) return false;
    }
    return false;
  }

  ConstrainedState finish(int status) {
    out_.status = status;
    Vector inside = out_.x;
    for (std::size_t i = 0; i < n_; ++i) inside[i] = std::min(std::max(inside[i], p_.lower[i]), p_.upper[i]);
    if (inside != out_.x && !c_.empty()) f_ = values(inside, c_);
    out_.fun = f_ / f_scale_;
    out_.optimality = error(0);
    out_.c = c_;
    out_.multipliers = y_;
    out_.active.assign(m_, 0);
    out_.at_bound.assign(n_, 0);
    for (std::size_t i = 0; i < m_; ++i) {
      out_.c[i] /= c_scale_[i];
      out_.multipliers[i] *= c_scale_[i] / f_scale_;
      out_.active[i] = p_.equality[i] || z_[i] > s_[i];
      out_.violation =
          std::max(out_.violation, p_.equality[i] ? std::fabs(out_.c[i]) : std::max(0., -out_.c[i]));
    }
    for (std::size_t i = 0; i < n_; ++i) {
      if (has_lower(i) && zl_[i] > out_.x[i] - lower_[i]) out_.at_bound[i] = -1;
      if (has_upper(i) && zu_[i] > upper_[i] - out_.x[i]) out_.at_bound[i] = 1;
    }
    out_.x = std::move(inside);
    return std::move(out_);
  }

  const ConstrainedFunctions& functions_;
  const ConstrainedProblem& p_;
  std::size_t n_, m_;
  Vector start_, lower_, upper_, c_scale_;
  double f_scale_ = 1, mu_ = 0.1, f_ = 0, last_shift_ = 0, most_violation_ = 0;
  Vector c_, s_, y_, z_, zl_, zu_, gradient_;  // of the Lagrangian f + y (c - s)
  SparseRows hessian_, jacobian_;
  Vector dx_, ds_, dy_, dz_, dzl_, dzu_, moved_;
  std::optional<Skyline> matrix_;
  std::vector<std::pair<double, double>> filter_;
  ConstrainedState out_;
};

NAX_ENGINE ConstrainedState minimize_constrained(const ConstrainedFunctions& f,
                                                 const ConstrainedProblem& problem, const Vector& x0) {
  return InteriorPoint(f, problem, x0).run();
}

}  // namespace optimize::detail
NAX_END
