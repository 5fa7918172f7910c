#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nax/core/function_ref.hpp"
#include "nax/modules/optimize/dense.hpp"

// Nonlinear least squares on vectors of doubles: MINPACK's Levenberg and Marquardt, and SciPy's trf and
// dogbox.
NAX_BEGIN
namespace optimize::detail {

enum class LeastSquaresMethod { lm, trf, dogleg };
enum class Loss { linear, huber, soft_l1, cauchy, arctan };

struct LeastSquaresProblem {
  FunctionRef<void(const Vector& x, Vector& f)> residual;
  FunctionRef<void(const Vector& x, Matrix& jac)> jacobian;  // called at the x of an accepted residual
  Vector lower, upper;                                       // n each, infinite without bounds
  Vector scale;                                              // n, or empty: by the columns of the Jacobian
  LeastSquaresMethod method = LeastSquaresMethod::trf;
  Loss loss = Loss::linear;
  double f_scale = 1, ftol = 0, xtol = 0, gtol = 0;
  std::int64_t max_nfev = 0;
};
struct LeastSquaresState {
  Vector x, fun, grad;
  Matrix jac;  // its rows weighed by the loss
  double cost = 0, optimality = 0;
  std::vector<int> active_mask;
  std::int64_t nfev = 0, njev = 0;
  int status = 0;
};

// Throws ValueError for a name that is none.
NAX_ENGINE LeastSquaresMethod least_squares_method(const char* function, std::string_view name);
NAX_ENGINE Loss loss_named(const char* function, std::string_view name);
NAX_ENGINE const char* least_squares_message(int status);
// Minimises the cost from x0. Throws ValueError where residuals or the Jacobian are not finite at x0, for
// bounds that cross or that x0 violates, and for fewer residuals than parameters with lm.
NAX_ENGINE LeastSquaresState minimize_squares(const char* function, const LeastSquaresProblem& problem,
                                              const Vector& x0);
// Throws ValueError for tolerances and scales that are negative or NaN.
NAX_ENGINE void check_tolerance(const char* function, const char* name, double value);
NAX_ENGINE void check_bounds(const char* function, const Vector& lower, const Vector& upper,
                             const Vector& x0);

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/least_squares_core-inl.hpp"
#endif
