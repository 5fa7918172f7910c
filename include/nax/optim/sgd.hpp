#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct SgdOptions {
  std::optional<double> momentum = {};
  bool nesterov = false;
};

template <class P>
struct SgdState {
  Count count;
  std::optional<P> trace;  // where there is momentum
};

// Stochastic gradient descent: trace = g + momentum * trace, update = -rate * trace.
template <detail::Rate R>
class Sgd {
 public:
  Sgd(R rate, const SgdOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  SgdState<detail::Like<P>> init(const P& params) const {
    SgdState<detail::Like<P>> state{detail::no_steps(), {}};
    if (options_.momentum) state.trace = detail::filled(params, 0);
    return state;
  }

  // A state that is given away (std::move) is brought up to date where it lies.
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, SgdState<S> state, const P&...) const {
    detail::Like<G> updates = detail::blank("sgd", grads);
    const auto rate = detail::rate_at(rate_, state.count);
    detail::LeafSteps steps = detail::leaf_steps(numbers(false), rate, nullptr);
    for_each_leaf(grads, state, updates, [&](const auto& g, auto* trace, auto& u) {
      ArrayBase* const averages[] = {trace};
      if (steps.take(g, nullptr, u, averages, trace ? 1 : 0)) return;
      detail::Assignments now;
      advance(now, g, trace, rate, u);
    });
    steps.run();
    state.count = detail::next(state.count);
    return std::pair{std::move(updates), std::move(state)};
  }
  template <class G, class S, class P>
  auto step(const G& grads, SgdState<S> state, P params) const {
    const auto rate = detail::rate_at(rate_, state.count);
    detail::LeafSteps steps = detail::leaf_steps(numbers(true), rate, nullptr);
    for_each_leaf(grads, state, params, [&](const auto& g, auto* trace, auto& p) {
      ArrayBase* const averages[] = {trace};
      if (steps.take(g, &p, p, averages, trace ? 1 : 0)) return;
      detail::step_leaf(p, [&](detail::Assignments& now, auto& u) { advance(now, g, trace, rate, u); });
    });
    steps.run();
    state.count = detail::next(state.count);
    return std::pair{std::move(params), std::move(state)};
  }

 private:
  loops::StepNumbers numbers(bool adds_to_params) const {
    using loops::StepRule;
    loops::StepNumbers n{};
    n.rule =
        options_.momentum ? (options_.nesterov ? StepRule::nesterov : StepRule::momentum) : StepRule::sgd;
    n.adds_to_params = adds_to_params;
    n.momentum = options_.momentum.value_or(0);
    return n;
  }
  // A leaf's trace as it is next, where there is momentum, and its update u.
  template <class T, class Now>
  void advance(detail::Assignments& now, const Array<T>& g, Array<T>* trace, const Now& rate,
               Array<T>& u) const {
    if (!trace) return detail::descend(now, u, g, rate);
    detail::mix(now, *trace, 1, g, *options_.momentum, *trace);
    if (!options_.nesterov) return detail::descend(now, u, *trace, rate);
    detail::mix(now, u, 1, g, *options_.momentum, *trace);
    detail::descend(now, u, u, rate);
  }

  // f(gradient, its trace or null, leaf of the other tree)
  template <class G, class S, class Other, class F>
  void for_each_leaf(const G& grads, SgdState<S>& state, Other& other, const F& f) const {
    if (!options_.momentum) {
      tree::detail::for_each(
          "sgd",
          [&](const auto& g, auto& leaf) {
            using Leaf = std::remove_cvref_t<decltype(g)>;
            if constexpr (detail::trained_v<Leaf>) f(g, static_cast<Leaf*>(nullptr), leaf);
          },
          grads, other);
      return;
    }
    if (!state.trace)
      throw ValueError("sgd: the state has no momentum; it was made by another optimiser's init");
    tree::detail::for_each(
        "sgd",
        [&](const auto& g, auto& trace, auto& leaf) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) f(g, &trace, leaf);
        },
        grads, *state.trace, other);
  }

  R rate_;
  SgdOptions options_;
};

// sgd(0.1), sgd(0.1, {.momentum = 0.9, .nesterov = true}), sgd(schedule). `update` throws ValueError where
// the trees differ, and for a state without the momentum it needs.
template <detail::Rate R>
Sgd<R> sgd(R learning_rate, const SgdOptions& options = {}) {
  return Sgd<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
