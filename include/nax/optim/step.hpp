#pragma once

#include <utility>

#include "nax/optim/leaves.hpp"

// From gradients to new parameters.
NAX_BEGIN
namespace optim {
namespace detail {

// p += u for one leaf, in one pass over memory together with what advance(now, u) assigns to get u.
template <class T, class Advance>
void step_leaf(Array<T>& p, const Advance& advance) {
  const profile::Span span(profile::Kind::operation, "optim::step");
  in_blocks(p.size(), [&](Assignments& now) {
    Array<T> u;
    advance(now, u);
    now.assign(p, p + u);
  });
}

}  // namespace detail

// params + updates; leaves that are not floating are passed on. Throws ValueError where the trees differ.
template <class P, class U>
[[nodiscard]] auto apply_updates(const P& params, const U& updates) {
  return tree::detail::map(
      "apply_updates",
      [](const auto& p, const auto& u) {
        using Leaf = std::remove_cvref_t<decltype(p)>;
        if constexpr (detail::trained_v<Leaf>)
          return Leaf((p + u).template astype<typename Leaf::value_type>());
        else
          return p;
      },
      params, updates);
}

// update and apply_updates at once: a pair of the next params and the next state. sgd, adam and adamw, alone
// or at the end of a chain, then pass over memory once, writing over a state and params that are given away:
//   std::tie(params, state) = optim::step(opt, grads, std::move(state), std::move(params));
// (By reference: `params` may be given away in the same call that takes gradients of it.)
template <class Optimizer, class G, class S, class P>
auto step(const Optimizer& optimizer, const G& grads, S&& state, P&& params) {
  if constexpr (requires { optimizer.step(grads, std::forward<S>(state), std::forward<P>(params)); }) {
    return optimizer.step(grads, std::forward<S>(state), std::forward<P>(params));
  } else {
    auto [updates, next] = optimizer.update(grads, std::forward<S>(state), params);
    return std::pair{apply_updates(params, updates), std::move(next)};
  }
}

}  // namespace optim
NAX_END
