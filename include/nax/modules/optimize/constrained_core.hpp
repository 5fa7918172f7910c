#pragma once

#include <cstdint>
#include <optional>

#include "nax/core/function_ref.hpp"
#include "nax/modules/optimize/minimize_core.hpp"

// Minima of functions of vectors of doubles under constraints: an interior point method.
NAX_BEGIN
namespace optimize::detail {

// A sparse matrix by rows.
struct SparseRows {
  std::vector<std::int32_t> starts{0}, columns;
  Vector values;
  std::size_t rows() const { return starts.size() - 1; }
};
struct ConstrainedFunctions {
  // f at x; fills c.
  FunctionRef<double(const Vector& x, Vector& c)> values;
  // At x: the gradient of f + multipliers c, its second derivatives (n rows), and the Jacobian of c.
  FunctionRef<void(const Vector& x, const Vector& multipliers, Vector& gradient, SparseRows& hessian,
                   SparseRows& jacobian)>
      derivatives;
};
struct ConstrainedProblem {
  std::vector<char> equality;  // is c_i = 0 asked for, or c_i >= 0?
  Vector lower, upper;
  double tol = 1e-8;
  std::int64_t max_steps = 0;
};
struct ConstrainedState {
  Vector x, multipliers;  // the latter of c: the gradient of f + multipliers c is 0, but for bounds
  Vector c;
  std::vector<char> active;   // is c_i = 0?
  std::vector<int> at_bound;  // -1, 0, 1
  double fun = 0, violation = 0, optimality = 0;
  std::int64_t nfev = 0, nhev = 0, nit = 0;
  // 0: converged; 1: max_steps; 2: no step; 3: not finite; 4: no point near x meets the constraints;
  // 5: x grows without limit
  int status = 1;
};
// Throws ValueError where values are not finite at x0.
NAX_ENGINE ConstrainedState minimize_constrained(const ConstrainedFunctions& f,
                                                 const ConstrainedProblem& problem, const Vector& x0);

// A symmetric positive definite matrix as its lower rows from the first element that is not zero on
// (a skyline), in an order of rows that keeps them short.
class Skyline {
 public:
  // The pattern: pairs of rows that share an element, by the rows of `hessian` and the columns of each of the
  // rows of `jacobian`.
  NAX_ENGINE Skyline(std::size_t n, const SparseRows& hessian, const SparseRows& jacobian);
  NAX_ENGINE void assemble(const SparseRows& hessian, const Vector& diagonal, const SparseRows& jacobian,
                           const Vector& weights);
  NAX_ENGINE bool factor();  // false where it is not positive definite
  NAX_ENGINE void solve(Vector& b) const;

 private:
  NAX_ENGINE void add(std::size_t i, std::size_t j, double value);
  std::vector<std::size_t> place_, first_, start_;  // of row i in the order; of place p: its first column
  Vector elements_;
};

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/constrained_core-inl.hpp"
#endif
