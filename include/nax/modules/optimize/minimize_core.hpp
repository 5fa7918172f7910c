#pragma once

#include <cstdint>
#include <string_view>

#include "nax/core/function_ref.hpp"
#include "nax/modules/optimize/dense.hpp"

// Minima of functions of vectors of doubles: line search, BFGS, L-BFGS-B, Newton's method by conjugate
// gradients and by trust regions, Nelder and Mead's simplex.
NAX_BEGIN
namespace optimize::detail {

enum class MinimizeMethod { bfgs, l_bfgs_b, newton_cg, trust_exact, nelder_mead };

struct Objective {
  FunctionRef<double(const Vector& x)> value;
  FunctionRef<double(const Vector& x, Vector& gradient)> value_and_gradient;
  FunctionRef<void(const Vector& x, const Vector& p, Vector& product)> hessian_times;
  FunctionRef<void(const Vector& x, Matrix& hessian)> hessian;
};
struct MinimizeProblem {
  MinimizeMethod method = MinimizeMethod::bfgs;
  Vector lower, upper;
  bool bounded = false;
  double gtol = 1e-5, ftol = 0, xtol = 0;
  std::int64_t max_steps = 0, max_evaluations = 0, history = 10;
};
struct MinimizeState {
  Vector x, gradient;
  double fun = 0;
  Matrix hess_inv;
  std::int64_t nfev = 0, njev = 0, nhev = 0, nit = 0;
  // 0: converged; 1: max_steps; 2: no step reduces the function any more; 3: not finite
  int status = 1;
};

// Throws ValueError for a name that is none.
NAX_ENGINE MinimizeMethod minimize_method(std::string_view name);
NAX_ENGINE const char* minimize_message(int status);
// Throws ValueError for bounds that cross, and those between which no number lies.
NAX_ENGINE void check_minimize_bounds(const Vector& lower, const Vector& upper);
// Throws ValueError where the function or its gradient is not finite at x0.
NAX_ENGINE MinimizeState minimize_vector(const Objective& f, const MinimizeProblem& problem,
                                         const Vector& x0);

// A step length that meets the strong conditions of Wolfe: More and Thuente's search (MINPACK-2's dcsrch).
struct WolfeOptions {
  double c1 = 1e-4, c2 = 0.9, xtol = 1e-14, longest = 1e10;
  int max_steps = 100;
};
struct WolfeStep {
  double alpha = 0, value = 0, slope = 0;
  bool found = false;
};
// phi(alpha, slope) returns the value at alpha. `value` and `slope` are those at 0, `alpha` the first guess.
NAX_ENGINE WolfeStep wolfe_search(FunctionRef<double(double alpha, double& slope)> phi, double value,
                                  double slope, double alpha, const WolfeOptions& options);

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/minimize_core-inl.hpp"
#endif
