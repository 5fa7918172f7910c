#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/modules/optimize/constrained.hpp"
#include "nax/modules/optimize/implicit.hpp"
#include "nax/modules/optimize/minimize_core.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/grad.hpp"

// Minima of functions by SciPy's names.
NAX_BEGIN
namespace optimize {

struct MinimizeOptions {
  // "bfgs", the default; "l-bfgs-b": for many parameters, and the default with bounds; "newton-cg": by
  // products with second derivatives; "trust-exact": by the matrix of second derivatives; "nelder-mead":
  // without derivatives; "interior-point": under constraints, where it is the default.
  std::string_view method = "";
  Bounds bounds = {};                        // of l-bfgs-b, nelder-mead and interior-point
  std::vector<Constraint> constraints = {};  // {{"eq", h}, {"ineq", g}}: h(x) = 0, g(x) >= 0
  std::optional<double> tol = {};            // on the gradient's largest element; of nelder-mead on x and fun
  std::int64_t max_steps = 0;  // 0: 200 for each parameter, 15000 of l-bfgs-b, 3000 of interior-point
  std::int64_t history = 10;   // pairs that l-bfgs-b keeps
  Arguments args = {};
};

template <class Tree, class E>
struct MinimizeResult {
  Tree x;
  Array<E> fun;       // 0-d, the value at x; differentiable
  Array<E> jac;       // the gradient at x, (n,); empty of nelder-mead
  Array<E> hess_inv;  // (n, n) of bfgs, otherwise empty
  // Of the constraints' elements, one after another: the gradients of fun + sum(multipliers * constraints)
  // vanish but for bounds. Empty without constraints.
  Array<E> multipliers;
  double maxcv = 0;  // the largest violation of a constraint
  std::int64_t nfev = 0, njev = 0, nhev = 0, nit = 0;
  // 0: converged; 1: max_steps; 2: no step reduces fun any more; 3: not finite; 4: the constraints cannot be
  // met near x; 5: x grows without limit, of interior-point
  int status = 0;
  std::string message;
  bool success = false;
};

struct LineSearchOptions {
  double c1 = 1e-4, c2 = 0.9;
  double amax = 1e10;
  int max_steps = 100;
  Arguments args = {};
};
struct LineSearchResult {
  double alpha = 0;                    // 0 where no step was found
  double new_fval = 0, new_slope = 0;  // at xk + alpha pk, the slope along pk
  std::int64_t nfev = 0;
  bool success = false;
};

namespace detail {

// minimize under constraints: f as a function of the vector of the tree.
template <class Vectors, class F, class Tree>
auto minimize_under(const Vectors& on, const F& scalar, const Tree& x0, const MinimizeOptions& o) {
  using E = typename Vectors::E;
  using Parts = nax::detail::where_used_t<std::vector<Array<double>>, Vectors>;
  using Flags = nax::detail::where_used_t<std::vector<char>, Vectors>;
  if (!o.method.empty() && o.method != "interior-point")
    raise<ValueError>({"minimize: constraints need method 'interior-point', not '", o.method, "'"});
  const Vector start = values_of(tree::ravel(x0).first);
  const std::size_t n = start.size();
  const RealFunction f = [&](const Array<double>& x) -> Array<double> {
    return scalar(x.template astype<E>()).template astype<double>();
  };
  const RealFunction constraints = [&](const Array<double>& x) -> Array<double> {
    const std::any tree = on.tree_of(x.template astype<E>());
    Parts parts;
    for (const Constraint& each : o.constraints) parts.push_back(each(tree, o.args));
    return parts.size() == 1 ? parts[0] : Array<double>(concatenate(parts));
  };
  Flags equality;
  for (const Constraint& each : o.constraints) {
    if (each.type() != "eq" && each.type() != "ineq")
      raise<ValueError>({"minimize: constraints: a type must be 'eq' or 'ineq', not '", each.type(), "'"});
    equality.insert(equality.end(), static_cast<std::size_t>(each(x0, o.args).size()), each.type() == "eq");
  }
  const double inf = std::numeric_limits<double>::infinity();
  const double precision = 100 * static_cast<double>(std::numeric_limits<E>::epsilon());
  const ConstrainedProblem problem{.equality = equality,
                                   .lower = o.bounds.lower.of("minimize", "bounds.lower", n, -inf),
                                   .upper = o.bounds.upper.of("minimize", "bounds.upper", n, inf),
                                   .tol = std::max(o.tol.value_or(1e-8), precision),
                                   .max_steps = o.max_steps != 0 ? o.max_steps : 3000};
  const ConstrainedSolution solution = o.constraints[0].solver()(f, constraints, problem, start);
  const ConstrainedState& s = solution.state;
  const Array<E> x = solution.x.template astype<E>();
  const nax::detail::RecordOn on_tape(nax::detail::any_input_recorded(x) ? nax::detail::recording.tape
                                                                         : nullptr);
  const auto [fun, gradient] = value_and_grad(scalar)(x);
  return MinimizeResult<Tree, E>{.x = on.tree_of(x),
                                 .fun = fun,
                                 .jac = stop_gradient(gradient),
                                 .hess_inv = matrix_of<E>(Matrix()),
                                 .multipliers = vector_of<E>(s.multipliers),
                                 .maxcv = s.violation,
                                 .nfev = s.nfev,
                                 .njev = s.nhev,
                                 .nhev = s.nhev,
                                 .nit = s.nit,
                                 .status = s.status,
                                 .message = minimize_message(s.status),
                                 .success = s.status == 0};
}

}  // namespace detail

// Minimises f(x, args...), one number, from x0: an array or a tree of floating arrays. Steps run in double;
// gradients are those of reverse mode. The solution is differentiable in `args` and in what f captured, by
// the equation that the gradient vanishes; parameters at a bound stay there. Under constraints that equation
// is of the Lagrangian, with the constraints that are met with 0; second derivatives of both are used, as
// sparse matrices of recorded programs from 40 parameters and constraints on. Throws ValueError where f or
// its gradient is not finite at x0, for bounds that cross or are NaN and for methods that have none, and
// ShapeError where f returns several numbers. Other ends are told by `status`.
template <class F, class X>
auto minimize(const F& f, const X& x0_, const MinimizeOptions& o = {}) {
  const auto x0 = nax::detail::to_arrays(x0_);
  using Tree = std::remove_cvref_t<decltype(x0)>;
  using Vectors = detail::OnVectors<Tree>;
  using E = typename Vectors::E;
  using detail::MinimizeMethod, detail::Vector;
  const Vectors on("minimize", x0, o.args);
  const Vector start = detail::values_of(tree::ravel(x0).first);
  const std::size_t n = start.size();
  const auto scalar = detail::scalar_on(on, f);
  const auto gradient = grad(scalar);
  if (o.tol && !(*o.tol >= 0))
    raise<ValueError>({"minimize: tol must not be negative: ", detail::InText{*o.tol}});
  if (o.max_steps < 0) raise<ValueError>({"minimize: max_steps must be positive: ", o.max_steps});
  if (!o.constraints.empty()) return detail::minimize_under(on, scalar, x0, o);

  const auto value = [&](const Vector& x) {
    return static_cast<double>(detail::values_of(scalar(detail::vector_of<E>(x)))[0]);
  };
  const auto both = [&](const Vector& x, Vector& to) {
    const auto [fun, g] = value_and_grad(scalar)(detail::vector_of<E>(x));
    to = detail::values_of(g);
    return detail::values_of(fun)[0];
  };
  const auto product = [&](const Vector& x, const Vector& p, Vector& to) {
    to = detail::values_of(
        jvp(gradient, std::tuple{detail::vector_of<E>(x)}, std::tuple{detail::vector_of<E>(p)}).second);
  };
  const auto matrix = [&](const Vector& x, detail::Matrix& to) {
    detail::store_matrix("minimize", "the second derivatives", jacfwd(gradient)(detail::vector_of<E>(x)), n,
                         n, to);
  };
  const double inf = std::numeric_limits<double>::infinity();
  const double precision = static_cast<double>(std::numeric_limits<E>::epsilon());
  detail::MinimizeProblem problem;
  problem.method = detail::minimize_method(!o.method.empty()  ? o.method
                                           : o.bounds.given() ? "l-bfgs-b"
                                                              : "bfgs");
  problem.lower = o.bounds.lower.of("minimize", "bounds.lower", n, -inf);
  problem.upper = o.bounds.upper.of("minimize", "bounds.upper", n, inf);
  for (std::size_t i = 0; i < n; ++i)
    problem.bounded = problem.bounded || problem.lower[i] > -inf || problem.upper[i] < inf;
  if (o.history < 1) raise<ValueError>({"minimize: history must be positive: ", o.history});
  const bool simplex = problem.method == MinimizeMethod::nelder_mead;
  problem.gtol = o.tol.value_or(1e-5);
  problem.ftol = simplex ? o.tol.value_or(1e-4)
                 : o.tol ? precision
                         : std::max(2.2204460492503131e-09, precision);
  problem.xtol = o.tol.value_or(1e-4);
  problem.history = o.history;
  const std::int64_t count = static_cast<std::int64_t>(n);
  problem.max_steps = o.max_steps != 0                             ? o.max_steps
                      : problem.method == MinimizeMethod::l_bfgs_b ? 15000
                                                                   : 200 * count;
  problem.max_evaluations = std::max<std::int64_t>(15000, 40 * problem.max_steps);

  detail::MinimizeState s = [&] {
    const nax::detail::RecordOn off(nullptr);
    return detail::minimize_vector({value, both, product, matrix}, problem, start);
  }();
  std::vector<int> active(n);
  for (std::size_t i = 0; i < n; ++i)
    active[i] = s.x[i] <= problem.lower[i] ? -1 : s.x[i] >= problem.upper[i] ? 1 : 0;
  const Array<E> x = detail::minimum_with_derivatives(detail::vector_of<E>(s.x), gradient, active);
  return MinimizeResult<Tree, E>{
      .x = on.tree_of(x),
      .fun = nax::detail::any_input_recorded(x) ? Array<E>(scalar(x)) : Array<E>(s.fun),
      .jac = detail::vector_of<E>(s.gradient),
      .hess_inv = detail::matrix_of<E>(s.hess_inv),
      .multipliers = detail::vector_of<E>({}),
      .nfev = s.nfev,
      .njev = s.njev,
      .nhev = s.nhev,
      .nit = s.nit,
      .status = s.status,
      .message = detail::minimize_message(s.status),
      .success = s.status == 0};
}

// A step length alpha from xk along pk, arrays or trees of one structure, that meets the strong conditions of
// Wolfe (More and Thuente's search): f(x, args...) falls by c1 of its slope, and the slope by the factor c2.
// Throws ValueError where pk is no direction of descent, or has another shape than xk.
template <class F, class X, class P>
LineSearchResult line_search(const F& f, const X& xk, const P& pk, const LineSearchOptions& o = {}) {
  const auto x0 = nax::detail::to_arrays(xk);
  using Tree = std::remove_cvref_t<decltype(x0)>;
  using E = typename detail::OnVectors<Tree>::E;
  using detail::Vector;
  const detail::OnVectors<Tree> on("line_search", x0, o.args);
  const Vector x = detail::values_of(tree::ravel(x0).first);
  const Vector p = detail::values_of(tree::ravel(nax::detail::to_arrays(pk)).first);
  if (p.size() != x.size()) raise<ValueError>({"line_search: pk has ", p.size(), " elements, xk ", x.size()});
  if (!(o.c1 > 0 && o.c1 < o.c2 && o.c2 < 1))
    raise<ValueError>({"line_search: c1 and c2 must be 0 < c1 < c2 < 1: ", detail::InText{o.c1}, " and ",
                       detail::InText{o.c2}});
  const auto scalar = detail::scalar_on(on, f);
  LineSearchResult result;
  const nax::detail::RecordOn off(nullptr);
  const auto phi = [&](double alpha, double& slope) {
    Vector at = x;
    for (std::size_t i = 0; i < x.size(); ++i) at[i] += alpha * p[i];
    const auto [value, g] = value_and_grad(scalar)(detail::vector_of<E>(at));
    ++result.nfev;
    slope = detail::dot(detail::values_of(g), p);
    return detail::values_of(value)[0];
  };
  double slope = 0;
  const double value = phi(0, slope);
  if (!(slope < 0))
    raise<ValueError>({"line_search: pk is no direction of descent: slope ", detail::InText{slope}});
  const detail::WolfeStep step =
      detail::wolfe_search(phi, value, slope, std::min(1., o.amax),
                           {.c1 = o.c1, .c2 = o.c2, .longest = o.amax, .max_steps = o.max_steps});
  result.alpha = step.found ? step.alpha : 0;
  result.new_fval = step.found ? step.value : value;
  result.new_slope = step.found ? step.slope : slope;
  result.success = step.found;
  return result;
}

}  // namespace optimize
NAX_END
