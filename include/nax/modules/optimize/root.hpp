#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nax/modules/optimize/implicit.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/modules/optimize/root_core.hpp"

// Roots and fixed points of functions of arrays.
NAX_BEGIN
namespace optimize {

struct RootOptions {
  // "hybr": Powell's hybrid method; "newton": a Jacobian each step; "broyden": one Jacobian, then
  // corrections.
  std::string_view method = "hybr";
  std::optional<double> tol = {};  // relative change of x; 1.5e-8
  std::int64_t max_steps = 0;      // 0: 100 for each element, and 100
  Arguments args = {};
};

template <class Tree, class E>
struct RootResult {
  Tree x;
  Array<E> fun;  // at x, (n,)
  Array<E> jac;  // (n, n): the last one used, of hybr and broyden an estimate
  std::int64_t nfev = 0, njev = 0, nit = 0;
  int status = 0;  // 1: converged; 0: max_steps; -1: no progress; -2: the Jacobian is not finite
  std::string message;
  bool success = false;
};

struct FixedPointOptions {
  double xtol = 1e-8;
  std::int64_t max_steps = 500;
  std::string_view method = "del2";  // or "iteration"
  Arguments args = {};
};

// Finds x with f(x, args...) = 0 from x0: an array or a tree of floating arrays; f returns as many elements.
// The root is differentiable in `args` and in what f captured, by the equation itself. Throws ValueError
// where f is not finite at x0 or returns another number of elements. Other ends are told by `status`.
template <class F, class X>
auto root(const F& f, const X& x0_, const RootOptions& o = {}) {
  const auto x0 = nax::detail::to_arrays(x0_);
  using Tree = std::remove_cvref_t<decltype(x0)>;
  using Vectors = detail::OnVectors<Tree>;
  using E = typename Vectors::E;
  using detail::Vector;
  const Vectors on("root", x0, o.args);
  const auto g = [&](const Array<E>& x) { return on.vector(f, x); };
  std::int64_t count = -1;
  const auto value = [&](const Vector& x, Vector& to) {
    detail::store_values("root", "what the function returns", g(detail::vector_of<E>(x)), to, count);
  };
  const auto jacobian = [&](const Vector& x, detail::Matrix& to) {
    detail::store_matrix("root", "the Jacobian", jacfwd(g)(detail::vector_of<E>(x)), x.size(), x.size(), to);
  };
  if (o.tol && !(*o.tol >= 0))
    raise<ValueError>({"root: tol must not be negative: ", detail::InText{*o.tol}});
  const double precision = static_cast<double>(std::numeric_limits<E>::epsilon());
  const Vector start = detail::values_of(tree::ravel(x0).first);
  const detail::RootProblem problem{
      .value = value,
      .jacobian = jacobian,
      .method = detail::root_method(o.method),
      .xtol = std::max(o.tol.value_or(1.49012e-8), 4 * precision),
      .ftol = 0,
      .max_steps = o.max_steps != 0 ? o.max_steps : 100 * (static_cast<std::int64_t>(start.size()) + 1)};
  const detail::RootState s = [&] {
    const nax::detail::RecordOn off(nullptr);
    return detail::find_root(problem, start);
  }();
  return RootResult<Tree, E>{.x = on.tree_of(detail::with_derivatives(detail::vector_of<E>(s.x), g)),
                             .fun = detail::vector_of<E>(s.fun),
                             .jac = detail::matrix_of<E>(s.jac),
                             .nfev = s.nfev,
                             .njev = s.njev,
                             .nit = s.nit,
                             .status = s.status,
                             .message = detail::root_message(s.status),
                             .success = s.status == 1};
}

// Finds x with f(x, args...) = x, an array or a tree of the shapes of x0, by iteration from x0, which "del2"
// accelerates (Steffensen's method). Differentiable in `args` and in what f captured. Throws ValueError where
// f returns another number of elements, and after max_steps.
template <class F, class X>
auto fixed_point(const F& f, const X& x0_, const FixedPointOptions& o = {}) {
  const auto x0 = nax::detail::to_arrays(x0_);
  using Tree = std::remove_cvref_t<decltype(x0)>;
  using E = typename detail::OnVectors<Tree>::E;
  using detail::Vector;
  const detail::OnVectors<Tree> on("fixed_point", x0, o.args);
  const auto next = [&](const Vector& x, Vector& to) {
    to = detail::values_of(on.vector(f, detail::vector_of<E>(x)));
  };
  const double precision = static_cast<double>(std::numeric_limits<E>::epsilon());
  const Vector x = [&] {
    const nax::detail::RecordOn off(nullptr);
    return detail::iterate_to_fixed_point(next, detail::values_of(tree::ravel(x0).first),
                                          std::max(o.xtol, 4 * precision), o.max_steps, o.method);
  }();
  return on.tree_of(detail::with_derivatives(
      detail::vector_of<E>(x), [&](const Array<E>& at) { return Array<E>(on.vector(f, at) - at); }));
}

}  // namespace optimize
NAX_END
