#pragma once

#include <cstdint>
#include <string_view>

#include "nax/core/function_ref.hpp"
#include "nax/modules/optimize/dense.hpp"

// Roots of functions of vectors, and of functions of one number.
NAX_BEGIN
namespace optimize::detail {

enum class RootMethod { hybr, newton, broyden };

struct RootProblem {
  FunctionRef<void(const Vector& x, Vector& f)> value;
  FunctionRef<void(const Vector& x, Matrix& jac)> jacobian;
  RootMethod method = RootMethod::hybr;
  double xtol = 0, ftol = 0;
  std::int64_t max_steps = 0;
};
struct RootState {
  Vector x, fun;
  Matrix jac;  // at x, or Broyden's estimate
  std::int64_t nfev = 0, njev = 0, nit = 0;
  // 1: converged; 0: max_steps; -1: no progress; -2: the Jacobian is not finite
  int status = 0;
};

// Throws ValueError for a name that is none.
NAX_ENGINE RootMethod root_method(std::string_view name);
NAX_ENGINE const char* root_message(int status);
// Throws ValueError where the function is not finite at x0, or returns another number of elements.
NAX_ENGINE RootState find_root(const RootProblem& problem, const Vector& x0);

using Number = FunctionRef<double(double)>;
// A root between a and b, where f has different signs. Throw ValueError where it has not, or is NaN, and
// after max_steps.
NAX_ENGINE double brentq(Number f, double a, double b, double xtol, double rtol, std::int64_t max_steps);
NAX_ENGINE double bisect(Number f, double a, double b, double xtol, double rtol, std::int64_t max_steps);
// By the derivative, or by secants. Throws ValueError where the derivative vanishes, or after max_steps.
NAX_ENGINE double newton(FunctionRef<double(double x, double& slope)> f, double x, double tol, double rtol,
                         std::int64_t max_steps);
NAX_ENGINE double secant(Number f, double x, double tol, double rtol, std::int64_t max_steps);
// x with x = f(x), by Steffensen's acceleration of each element ("del2") or without ("iteration").
NAX_ENGINE Vector iterate_to_fixed_point(FunctionRef<void(const Vector& x, Vector& f)> f, Vector x,
                                         double xtol, std::int64_t max_steps, std::string_view method);

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/root_core-inl.hpp"
#endif
