#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/least_squares_core.hpp"

// Shared by the methods of least_squares.
NAX_BEGIN
namespace optimize::detail {

inline constexpr double epsilon = std::numeric_limits<double>::epsilon();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

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
  Vector f;  // the residuals, weighed as state.jac is

  double evaluate(const Vector& x, Vector& to) {
    problem.residual(x, to);
    ++state.nfev;
    return all_finite(to) ? cost_of(problem.loss, problem.f_scale, to) : infinity;
  }
  // The weighed Jacobian at state.x, where the residuals are state.fun; false where it is not finite.
  bool linearize() {
    problem.jacobian(state.x, state.jac);
    ++state.njev;
    if (!all_finite(state.jac.data)) return false;
    f = state.fun;
    weigh(problem.loss, problem.f_scale, f, state.jac);
    state.grad = transpose_times(state.jac, f);
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

}  // namespace optimize::detail
NAX_END
