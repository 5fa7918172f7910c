#pragma once

#include <bit>
#include <functional>

#include "nax/lax/parts.hpp"
#include "nax/transform/jvp.hpp"

// Derivatives of what is defined by an equation: roots and solutions of linear systems that a function of the
// user's finds, by whatever steps. The steps are not differentiated; the equation is.
//
// With x found, a correction of value 0 is added: x - J^-1 f(x), J the derivative of f in x. Its first factor
// is a node that solves with J when a tangent passes and with J's transpose when a cotangent does; f(x) is
// recorded as it is, so that everything f captured gets its share. That is a step of Newton's: derivatives
// are right up to order 1, after two steps up to 3, after three up to 7, and as many steps are taken as
// transforms are at work.
NAX_BEGIN
namespace detail {

// A linear function of a tree whose value here is 0, by what it does to tangents and to cotangents.
template <class Tree, class Push, class Pull>
struct LinearNode final : CallNode {
  Tree in, out;
  std::vector<std::uint64_t> serials;
  Push push_tree;
  Pull pull_tree;
  std::vector<VmapFrame> frames;

  LinearNode(const Tree& r, const Tree& result, Push push, Pull pull)
      : in(r),
        out(result),
        push_tree(std::move(push)),
        pull_tree(std::move(pull)),
        frames(vmap_stack().frames) {
    for_each_input(in, [&](ArrayBase& leaf) {
      serials.push_back(serial_of(leaf));
      ArrayAccess::serial(leaf) = 0;
    });
  }
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    for (const std::uint64_t serial : serials) all |= tape.watchers(serial);
    return all;
  }
  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    const VmapScope vmaps(frames);
    const Tree share = pull_tree(cotangent_tree(out, cotangents));
    std::size_t i = 0;
    for_each_input(share, [&](const ArrayBase& leaf) { sweep.add(serials[i++], ArrayBase(leaf)); });
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    Tree tangents = in;
    bool any = false;
    std::size_t i = 0;
    for_each_input(tangents, [&](auto& leaf) {
      const ArrayBase* t = sweep.find(serials[i++]);
      any = any || t;
      using Leaf = std::remove_cvref_t<decltype(leaf)>;
      leaf = t ? typed<typename Leaf::value_type>(*t) : zeros_over(leaf);
    });
    if (!any) return {};
    const VmapScope vmaps(frames);
    const Tree result = push_tree(tangents);
    std::vector<ArrayBase> out_leaves;
    for_each_input(result, [&](const ArrayBase& leaf) { out_leaves.push_back(leaf); });
    return out_leaves;
  }
};

template <class Tree>
Tree add_trees(const Tree& a, const Tree& b) {
  Tree sum = a;
  tree::for_each(
      [](auto& x, const auto& y) {
        using Leaf = std::remove_cvref_t<decltype(x)>;
        if constexpr (is_array_v<Leaf>) x = Leaf(x + y);
      },
      sum, b);
  return sum;
}
template <class Tree>
Tree negate_tree(const Tree& a) {
  Tree out = a;
  tree::for_each(
      [](auto& x) {
        using Leaf = std::remove_cvref_t<decltype(x)>;
        if constexpr (is_array_v<Leaf>) x = Leaf(-x);
      },
      out);
  return out;
}

// A step of Newton's that leaves x as it is: r is f(x), push(t) = J^-1 t, pull(g) = J^-T g.
template <class Tree, class Push, class Pull>
Tree newton_step(const Tree& x, const Tree& r, Push push, Pull pull) {
  if (!any_input_recorded(r)) return x;
  Tree correction = zeros_like_tree(x);
  record_call<LinearNode<Tree, Push, Pull>>(correction, r, correction, std::move(push), std::move(pull));
  return add_trees(x, negate_tree(correction));
}

inline int newton_steps() {
  return recording.tape ? static_cast<int>(std::bit_width(recording.tape->scopes.marks.size())) : 0;
}

template <class Tree>
void check_same_arrays(const char* function, const char* what, const Tree& a, const Tree& b) {
  tree::detail::for_each(
      function,
      [&](const auto& x, const auto& y) {
        if constexpr (is_array_v<decltype(x)>)
          if (!(x.shape() == y.shape()))
            raise<ShapeError>({function, ": ", what, " must have the shapes of its argument: ", x.shape(),
                               ", not ", y.shape()});
      },
      a, b);
}

// The transpose of a linear function of trees like x.
template <class F, class Tree>
auto transposed(const F& f, const Tree& x) {
  return [f, x](const auto& g) {
    return Tree(std::get<0>(vjp([&](const Tree& v) { return to_arrays(f(v)); }, x).second(g)));
  };
}

// (The function's type is erased: that of its transpose's transpose would be another one again.)
template <class Tree, class Solve, class TransposeSolve>
Tree linear_solve(const std::function<Tree(const Tree&)>& matvec, const Tree& b, const Solve& solve,
                  const TransposeSolve& transpose_solve) {
  Tree x = [&] {
    const RecordOn off(nullptr);
    return Tree(to_arrays(solve(matvec, b)));
  }();
  make_constant(x);
  check_same_arrays("custom_linear_solve", "what solve returns", b, x);
  const auto push = [matvec, solve, transpose_solve](const Tree& t) {
    return linear_solve<Tree>(matvec, t, solve, transpose_solve);
  };
  const auto pull = [matvec, solve, transpose_solve, at = zeros_like_tree(x)](const Tree& g) {
    return linear_solve<Tree>(transposed(matvec, at), g, transpose_solve, solve);
  };
  for (int k = newton_steps(); k-- > 0;) {
    const Tree product = matvec(x);
    check_same_arrays("custom_linear_solve", "what matvec returns", b, product);
    x = newton_step(x, add_trees(product, negate_tree(b)), push, pull);
  }
  return x;
}

}  // namespace detail

namespace lax {

// x with matvec(x) = b, as solve(matvec, b) finds it. Derivatives in b, and in what matvec captured, come
// from the equation: forward mode solves with matvec again, reverse mode calls transpose_solve(vecmat, g).
// Trees of floating arrays.
template <class Matvec, class B, class Solve, class TransposeSolve>
requires std::is_class_v<TransposeSolve>
auto custom_linear_solve(const Matvec& matvec, const B& b_, const Solve& solve,
                         const TransposeSolve& transpose_solve) {
  const auto b = detail::to_arrays(b_);
  using Tree = std::remove_cvref_t<decltype(b)>;
  return detail::linear_solve<Tree>([matvec](const Tree& x) { return Tree(detail::to_arrays(matvec(x))); }, b,
                                    solve, transpose_solve);
}

struct LinearSolveOptions {
  bool symmetric = false;  // matvec is its own transpose, so that solve serves both ways
};
// Solves without a solver for the transpose: for symmetric functions, or for forward mode alone (else
// reverse mode throws TypeError).
template <class Matvec, class B, class Solve>
auto custom_linear_solve(const Matvec& matvec, const B& b, const Solve& solve,
                         const LinearSolveOptions& options = {}) {
  const bool symmetric = options.symmetric;
  return custom_linear_solve(matvec, b, solve, [solve, symmetric](const auto& vecmat, const auto& g) {
    if (!symmetric)
      throw TypeError("custom_linear_solve: reverse mode needs transpose_solve, or {.symmetric = true}");
    return solve(vecmat, g);
  });
}

// x with f(x) = 0, as solve(f, initial_guess) finds it. Derivatives in what f captured come from the
// equation: tangent_solve(g, y) solves g(x) = y for a linear g, and must be linear in y (reverse mode
// transposes it). Trees of floating arrays. The initial guess gets no gradient. Throws ShapeError if `solve`
// returns other shapes than the guess's, or f does under a derivative.
template <class F, class X, class Solve, class TangentSolve>
auto custom_root(const F& f, const X& initial_guess, const Solve& solve, const TangentSolve& tangent_solve) {
  using namespace detail;
  const auto guess = to_arrays(initial_guess);
  using Tree = std::remove_cvref_t<decltype(guess)>;
  Tree x = [&] {
    const RecordOn off(nullptr);
    return Tree(to_arrays(solve(f, guess)));
  }();
  make_constant(x);
  check_same_arrays("custom_root", "what solve returns", guess, x);
  for (int k = newton_steps(); k-- > 0;) {
    const auto push = [f, x, tangent_solve](const Tree& t) {
      const auto linear = [&f, &x](const auto& v) {
        return jvp([&](const Tree& at) { return to_arrays(f(at)); }, std::tuple{x}, std::tuple{v}).second;
      };
      return Tree(to_arrays(tangent_solve(linear, t)));
    };
    const auto pull = [push](const Tree& g) { return Tree(std::get<0>(vjp(push, g).second(g))); };
    const Tree residual = to_arrays(f(std::as_const(x)));
    check_same_arrays("custom_root", "what f returns", x, residual);
    x = newton_step(x, residual, push, pull);
  }
  return x;
}

}  // namespace lax
NAX_END
