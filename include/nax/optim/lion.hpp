#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct LionOptions {
  double b1 = 0.9, b2 = 0.99;  // decay of the momentum for the step, and of the stored momentum
  double weight_decay = 1e-3;
};

template <class P>
struct LionState {
  Count count;
  P mu;
};

// Steps of one length: the sign of the momentum, and weights that decay.
template <detail::Rate R>
class Lion {
 public:
  Lion(R rate, const LionOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  LionState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0)};
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, const LionState<S>& state, const P& params) const {
    const LionOptions& o = options_;
    LionState<S> next{detail::next(state.count), {}};
    const auto rate = detail::rate_at(rate_, state.count);
    auto updates = detail::map(
        "lion",
        [&]<class T>(const Array<T>& g, const Array<T>& m, const Array<T>& p) {
          const Array<T> step = sign(detail::mix(1 - o.b1, g, o.b1, m));
          return detail::descend(detail::mix(1, step, o.weight_decay, p), rate);
        },
        grads, state.mu, params);
    next.mu = detail::map(
        "lion", [&](const auto& g, const auto& m) { return detail::mix(1 - o.b2, g, o.b2, m); }, grads,
        state.mu);
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  R rate_;
  LionOptions options_;
};

// Steps of one size along the sign of an average gradient (Chen and others 2023). `update` throws ValueError
// where the trees of gradients and state differ.
template <detail::Rate R>
Lion<R> lion(R learning_rate, const LionOptions& options = {}) {
  return Lion<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
