#pragma once

#include "nax/optim/transformation.hpp"

namespace nax::optim {

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
  auto update(const G& grads, SgdState<S> state, const P&...) const {
    SgdState<S> next{detail::next(state.count), {}};
    const auto rate = detail::rate_at(rate_, state.count);
    if (!options_.momentum) return std::pair{step(grads, rate), std::move(next)};
    if (!state.trace)
      throw ValueError("sgd: the state has no momentum; it was made by another optimiser's init");
    const double momentum = *options_.momentum;
    tree::detail::for_each(
        "sgd",
        [momentum](const auto& g, auto& t) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>)
            t = detail::mix(1, g, momentum, std::move(t));
        },
        grads, *state.trace);
    next.trace = std::move(state.trace);
    if (!options_.nesterov) return std::pair{step(*next.trace, rate), std::move(next)};
    const auto ahead = detail::map(
        "sgd", [momentum](const auto& g, const auto& t) { return detail::mix(1, g, momentum, t); }, grads,
        *next.trace);
    return std::pair{step(ahead, rate), std::move(next)};
  }

 private:
  template <class G, class Now>
  static detail::Like<G> step(const G& grads, const Now& rate) {
    return detail::map(
        "sgd", [&](const auto& g) { return detail::descend(g, rate); }, grads);
  }
  R rate_;
  SgdOptions options_;
};

// sgd(0.1), sgd(0.1, {.momentum = 0.9, .nesterov = true}), sgd(schedule).
template <detail::Rate R>
Sgd<R> sgd(R learning_rate, const SgdOptions& options = {}) {
  return Sgd<R>(std::move(learning_rate), options);
}

}  // namespace nax::optim
