#pragma once

#include <tuple>
#include <utility>

#include "nax/modules/optimize/least_squares.hpp"
#include "nax/transform/jit.hpp"

// Least squares whose residuals are recorded once, for many solves of one shape.
NAX_BEGIN
namespace optimize {
namespace detail {

template <class A>
auto as_tuple(const A& args) {
  return std::tuple{nax::detail::to_arrays(args)};
}
template <class... A>
auto as_tuple(const std::tuple<A...>& args) {
  return std::apply([](const auto&... a) { return std::make_tuple(nax::detail::to_arrays(a)...); }, args);
}

// The residuals of a vector and a tuple of arguments, as a vector.
template <class R, class Tree>
struct ResidualOnVector {
  using E = typename OnVectors<Tree>::E;
  R residual;
  tree::detail::Unravel<Tree, E> unravel;

  template <class Args>
  Array<E> operator()(const Array<E>& x, const Args& args) const {
    const auto out = nax::detail::to_arrays(
        std::apply([&](const auto&... a) { return residual(unravel(x), a...); }, args));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(out)>, Array<E>>)
      return out.reshape(Shape{out.size()});
    else
      return tree::ravel(out).first.template astype<E>();
  }
};

template <class R, class Tree, class Args>
class Solver {
 public:
  using E = typename OnVectors<Tree>::E;
  Solver(R residual, const Tree& x0, const LeastSquaresOptions& options)
      : options_(options),
        on_("solver", x0, none_),
        residual_{std::move(residual), tree::detail::Unravel<Tree, E>(x0)},
        value_(jit(residual_)),
        forward_(jit(jacfwd(residual_))),
        reverse_(jit(jacrev(residual_))) {}

  // The solution from x0, a tree of the first one's structure and shapes, with arguments of the first ones'
  // types.
  template <class X, class A>
  auto operator()(const X& x0, const A& args_) const {
    const Args args = as_tuple(args_);
    const Vector start = values_of(tree::ravel(Tree(nax::detail::to_arrays(x0))).first);
    Args plain = args;
    nax::detail::make_constant(plain);
    const auto f = [&](const Array<E>& x) { return value_(x, plain); };
    const auto jacobian = [&](JacobianMode mode, const Array<E>& x) {
      return mode == JacobianMode::forward ? forward_(x, plain) : reverse_(x, plain);
    };
    const auto recorded = [&](const Array<E>& x) { return residual_(x, args); };
    return squares_result<E>(solve_squares<E>("solver", f, jacobian, start, options_), recorded, on_,
                             options_);
  }

 private:
  using Residual = ResidualOnVector<R, Tree>;
  inline static const Arguments none_{};
  LeastSquaresOptions options_;
  OnVectors<Tree> on_;
  Residual residual_;
  decltype(jit(std::declval<Residual>())) value_;
  decltype(jit(jacfwd(std::declval<Residual>()))) forward_;
  decltype(jit(jacrev(std::declval<Residual>()))) reverse_;
};

}  // namespace detail

// A function solve(x0, args) that solves as least_squares does, and records residual(x, args...) and its
// Jacobian as programs at the first call: for many solves of one shape, each from the solution before. `args`
// is one argument or a std::tuple of them, whose types later calls repeat. Solutions are differentiable in
// them. `options.args` is not used. Throws what least_squares throws.
template <class R, class X, class A>
auto solver(R residual, const X& x0_, const A& args, const LeastSquaresOptions& options = {.method = "lm"}) {
  const auto x0 = nax::detail::to_arrays(x0_);
  using Args = decltype(detail::as_tuple(args));
  return detail::Solver<R, std::remove_cvref_t<decltype(x0)>, Args>(std::move(residual), x0, options);
}

}  // namespace optimize
NAX_END
