#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "nax/modules/optimize/implicit.hpp"
#include "nax/modules/optimize/least_squares_core.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/transform/grad.hpp"

// Nonlinear least squares by SciPy's names.
NAX_BEGIN
namespace optimize {

struct LeastSquaresOptions {
  // "trf": trust region, reflected at bounds; "dogleg": rectangular trust region (SciPy's dogbox); "lm":
  // MINPACK's Levenberg and Marquardt, which continues as trf where there are bounds or a robust loss.
  std::string_view method = "trf";
  Bounds bounds = {};
  std::string_view loss = "linear";  // or "huber", "soft_l1", "cauchy", "arctan"
  double f_scale = 1;                // residuals below it are inliers of the loss
  StepScales x_scale = {};           // "jac", the default of lm, or numbers; 1 for others
  std::string_view jac = "auto";     // "forward" or "reverse" mode; "auto": the one of fewer passes
  double ftol = 1e-8, xtol = 1e-8, gtol = 1e-8;
  std::int64_t max_nfev = 0;  // 0: 100 for each parameter
  Arguments args = {};
};

template <class Tree, class E>
struct LeastSquaresResult {
  Tree x;
  Array<E> fun;  // the residuals at x, (m,); differentiable
  Array<E> jac;  // (m, n), its rows weighed by the loss
  Array<E> grad;
  double cost = 0, optimality = 0;
  Array<std::int32_t> active_mask;  // -1 at a lower bound, 1 at an upper one
  std::int64_t nfev = 0, njev = 0;
  // -2: the Jacobian is not finite at x; 0: max_nfev; 1: gtol; 2: ftol; 3: xtol; 4: ftol and xtol
  int status = 0;
  std::string message;
  bool success = false;
};

namespace detail {

// Half the sum of the loss over residuals r, as arrays for derivatives.
template <class E>
Array<E> robust_cost(Loss loss, double scale, const Array<E>& r) {
  const E c = static_cast<E>(scale);
  switch (loss) {
    case Loss::linear:
      return sum(r * r) * E(0.5);
    case Loss::huber: {
      const Array<E> z = square(r / c);
      return sum(where(z <= E(1), z, E(2) * sqrt(maximum(z, E(1))) - E(1))) * (E(0.5) * c * c);
    }
    case Loss::soft_l1:
      return sum(sqrt(E(1) + square(r / c)) - E(1)) * (c * c);
    case Loss::cauchy:
      return sum(log1p(square(r / c))) * (E(0.5) * c * c);
    case Loss::arctan:
      return sum(arctan(square(r / c))) * (E(0.5) * c * c);
  }
  return r;
}

enum class JacobianMode { forward, reverse };

// The state at the minimum, from `start`: f gives the residuals at a vector, jacobian(mode, x) their
// Jacobian.
template <class E, class F, class Jacobian>
LeastSquaresState solve_squares(const char* name, const F& f, const Jacobian& jacobian, const Vector& start,
                                const LeastSquaresOptions& o) {
  const std::size_t n = start.size();
  if (o.jac != "auto" && o.jac != "forward" && o.jac != "reverse")
    raise<ValueError>({name, ": jac must be 'auto', 'forward' or 'reverse', not '", o.jac, "'"});
  std::int64_t count = -1;
  const auto evaluate = [&](const Vector& x, Vector& to) {
    store_values(name, "residual", f(vector_of<E>(x)), to, count);
  };
  const auto linearize = [&](const Vector& x, Matrix& jac) {
    const std::size_t m = static_cast<std::size_t>(count);
    const bool reverse = o.jac == "reverse" || (o.jac == "auto" && m < n);
    store_matrix(name, "the Jacobian",
                 jacobian(reverse ? JacobianMode::reverse : JacobianMode::forward, vector_of<E>(x)), m, n,
                 jac);
  };
  const double precision = static_cast<double>(std::numeric_limits<E>::epsilon());
  const double inf = std::numeric_limits<double>::infinity();
  const LeastSquaresMethod method = least_squares_method(name, o.method);
  const auto tolerance = [&](const char* which, double value) {
    check_tolerance(name, which, value);
    return value == 0 ? 0 : std::max(value, precision);  // 0: without this test
  };
  const LeastSquaresProblem problem{
      .residual = evaluate,
      .jacobian = linearize,
      .lower = o.bounds.lower.of(name, "bounds.lower", n, -inf),
      .upper = o.bounds.upper.of(name, "bounds.upper", n, inf),
      .scale = o.x_scale.of(name, n, method == LeastSquaresMethod::lm),
      .method = method,
      .loss = loss_named(name, o.loss),
      .f_scale = o.f_scale,
      .ftol = tolerance("ftol", o.ftol),
      .xtol = tolerance("xtol", o.xtol),
      .gtol = tolerance("gtol", o.gtol),
      .max_nfev = o.max_nfev != 0 ? o.max_nfev : static_cast<std::int64_t>(100 * n)};
  const nax::detail::RecordOn off(nullptr);
  return minimize_squares(name, problem, start);
}

// The result of a state, its x and fun with the derivatives by which f, the residuals at a vector, gives
// them.
template <class E, class F, class Vectors>
auto squares_result(const LeastSquaresState& s, const F& f, const Vectors& on, const LeastSquaresOptions& o) {
  const Loss loss = loss_named(on.function(), o.loss);
  const double f_scale = o.f_scale;
  const auto gradient = grad([&](const Array<E>& x) { return robust_cost(loss, f_scale, Array<E>(f(x))); });
  const bool singular = nax::detail::recording.tape && is_singular(pivoted_qr(s.jac, Vector(s.jac.rows)));
  const Array<E> x = minimum_with_derivatives(vector_of<E>(s.x), gradient, s.active_mask, singular);
  return LeastSquaresResult<std::remove_cvref_t<decltype(on.tree_of(x))>, E>{
      .x = on.tree_of(x),
      .fun = nax::detail::any_input_recorded(x) ? f(x) : vector_of<E>(s.fun),
      .jac = matrix_of<E>(s.jac),
      .grad = vector_of<E>(s.grad),
      .cost = s.cost,
      .optimality = s.optimality,
      .active_mask = asarray(std::vector<std::int32_t>(s.active_mask.begin(), s.active_mask.end())),
      .nfev = s.nfev,
      .njev = s.njev,
      .status = s.status,
      .message = least_squares_message(s.status),
      .success = s.status > 0};
}

template <class R, class Tree>
auto least_squares(const char* name, const R& residual, const Tree& x0, const LeastSquaresOptions& o) {
  using E = typename OnVectors<Tree>::E;
  const OnVectors<Tree> on(name, x0, o.args);
  const auto f = [&](const Array<E>& x) { return on.vector(residual, x); };
  const auto jacobian = [&](JacobianMode mode, const Array<E>& x) {
    return mode == JacobianMode::forward ? jacfwd(f)(x) : jacrev(f)(x);
  };
  const Vector start = values_of(tree::ravel(x0).first);
  return squares_result<E>(solve_squares<E>(name, f, jacobian, start, o), f, on, o);
}

}  // namespace detail

// Minimises half the sum of rho(residual(x, args...)^2), rho the loss, from x0: an array or a tree of
// floating arrays; residual returns an array or a tree of these. Steps run in double. The solution is
// differentiable in `args` and in what residual captured, by the equation that the gradient vanishes;
// parameters at a bound stay there. Where the Jacobian is singular a step, and a derivative, is that of least
// norm. Throws ValueError for residuals or a Jacobian that are not finite at x0,
// bounds that cross or that x0 violates, and fewer residuals than parameters with lm; ShapeError where
// residuals change in number. Other ends are told by `status`. Each step costs a Jacobian and a
// factorisation, m n^2 operations.
template <class R, class X>
auto least_squares(const R& residual, const X& x0, const LeastSquaresOptions& options = {}) {
  return detail::least_squares("least_squares", residual, nax::detail::to_arrays(x0), options);
}

}  // namespace optimize
NAX_END
