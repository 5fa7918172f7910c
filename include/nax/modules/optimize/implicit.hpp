#pragma once

#include <functional>

#include "nax/lax/implicit.hpp"
#include "nax/linalg/pinv.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/jacobian.hpp"

// Derivatives of solutions: of the equation that they solve, not of the steps that found them.
NAX_BEGIN
namespace optimize::detail {

// A solution x of f(x) = 0 with the derivatives that it has by that equation, in all that f captured: x -
// J^-1 f(x), J the Jacobian of f at x, a square matrix. Nothing is computed unless f(x) is recorded.
// solver(J) returns two functions, which apply the inverses of J and of J^T.
template <class E, class F, class Solver>
Array<E> with_derivatives(Array<E> x, const F& f, const Solver& solver) {
  for (int k = nax::detail::newton_steps(); k-- > 0;) {
    const Array<E> residual = f(std::as_const(x));
    if (!nax::detail::any_input_recorded(residual)) break;
    const auto [push, pull] = solver(Array<E>(jacfwd(f)(x)));
    x = nax::detail::newton_step(x, residual, push, pull);
  }
  return x;
}
template <class E>
using Linear = std::function<Array<E>(const Array<E>&)>;
template <class E, class F>
Array<E> with_derivatives(const Array<E>& x, const F& f) {
  return with_derivatives(x, f, [](const Array<E>& jac) {
    return std::pair<Linear<E>, Linear<E>>([jac](const Array<E>& t) { return linalg::solve(jac, t); },
                                           [jac](const Array<E>& g) { return linalg::solve(jac.T(), g); });
  });
}
// The x of least norm among many: J may be singular.
template <class E, class F>
Array<E> with_least_derivatives(const Array<E>& x, const F& f) {
  return with_derivatives(x, f, [](const Array<E>& jac) {
    const Array<E> inverse = linalg::pinv(jac);
    return std::pair<Linear<E>, Linear<E>>([inverse](const Array<E>& t) { return matmul(inverse, t); },
                                           [inverse](const Array<E>& g) { return matmul(inverse.T(), g); });
  });
}

template <class E>
Array<E> masked_gradient(const Array<E>& g, const std::vector<int>& active) {
  Vector free(active.size());
  bool all = true;
  for (std::size_t i = 0; i < free.size(); ++i) free[i] = active[i] == 0, all = all && free[i] == 1;
  return all ? g : Array<E>(g * vector_of<E>(free));
}
// A solution of a minimum within bounds with its derivatives: gradient(x) = 0 in the free parameters, and
// those at a bound stay there. `singular`: others near x are as good, and x moves as little as it must.
template <class E, class Gradient>
Array<E> minimum_with_derivatives(const Array<E>& x, const Gradient& gradient, const std::vector<int>& active,
                                  bool singular = false) {
  Vector held(active.size());
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = active[i] != 0;
  const Array<E> at_bound = vector_of<E>(held);
  const auto equation = [&](const Array<E>& at) {
    return Array<E>(masked_gradient(gradient(at), active) + at_bound * (at - stop_gradient(x)));
  };
  return singular ? with_least_derivatives(x, equation) : with_derivatives(x, equation);
}

}  // namespace optimize::detail
NAX_END
