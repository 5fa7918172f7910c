#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct RmspropOptions {
  double decay = 0.9, eps = 1e-8, initial_scale = 0;
  bool eps_in_sqrt = true;
  std::optional<double> momentum = {};
  bool nesterov = false;
};

template <class P>
struct RmspropState {
  Count count;
  P nu;
  std::optional<P> trace;  // where there is momentum
};

// Gradients over the root of the mean of their squares; the momentum, if any, is that of the steps.
template <detail::Rate R>
class Rmsprop {
 public:
  Rmsprop(R rate, const RmspropOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  RmspropState<detail::Like<P>> init(const P& params) const {
    RmspropState<detail::Like<P>> state{
        detail::no_steps(), detail::filled(params, options_.initial_scale), {}};
    if (options_.momentum) state.trace = detail::filled(params, 0);
    return state;
  }

  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, const RmspropState<S>& state, const P&...) const {
    const RmspropOptions& o = options_;
    RmspropState<S> next{detail::next(state.count), {}, {}};
    next.nu = detail::map(
        "rmsprop",
        [&](const auto& g, const auto& v) { return detail::mix_square(1 - o.decay, g, o.decay, v); }, grads,
        state.nu);
    const auto rate = detail::rate_at(rate_, state.count);
    detail::Like<S> steps = detail::map(
        "rmsprop",
        [&]<class T>(const Array<T>& g, const Array<T>& v) {
          const Array<T> step =
              o.eps_in_sqrt ? Array<T>(g * rsqrt(v + o.eps)) : Array<T>(g / (sqrt(v) + o.eps));
          return detail::descend(step, rate);
        },
        grads, next.nu);
    if (!o.momentum) return std::pair{std::move(steps), std::move(next)};
    if (!state.trace)
      throw ValueError("rmsprop: the state has no momentum; it was made by another optimiser's init");
    const auto mix = [&](const auto& s, const auto& t) { return detail::mix(1, s, *o.momentum, t); };
    next.trace = detail::map("rmsprop", mix, steps, *state.trace);
    detail::Like<S> updates = o.nesterov ? detail::map("rmsprop", mix, steps, *next.trace) : *next.trace;
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  R rate_;
  RmspropOptions options_;
};

// Steps divided by the root of the average squared gradient. `update` throws ValueError where the trees of
// gradients and state differ, and for a state without the momentum it needs.
template <detail::Rate R>
Rmsprop<R> rmsprop(R learning_rate, const RmspropOptions& options = {}) {
  return Rmsprop<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
