#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct RpropOptions {
  double eta_minus = 0.5, eta_plus = 1.2;  // factors of a step's size where its sign changes, and where not
  double min_step_size = 1e-6, max_step_size = 50;
};

template <class P>
struct RpropState {
  P step_sizes, prev_updates;
};

class Rprop {
 public:
  Rprop(double rate, const RpropOptions& options) : rate_(rate), options_(options) {}

  template <class P>
  RpropState<detail::Like<P>> init(const P& params) const {
    return {detail::filled(params, rate_), detail::filled(params, 0)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, const RpropState<S>& state, const P&...) const {
    const RpropOptions o = options_;
    RpropState<S> next;
    next.step_sizes = detail::map(
        "rprop",
        [o]<class T>(const Array<T>& g, const Array<T>& before, const Array<T>& size) {
          const Array<T> turn = g * before;
          const auto grown =
              size * where(turn > T(0), static_cast<T>(o.eta_plus), static_cast<T>(o.eta_minus));
          return Array<T>(
              where(turn == T(0), size, minimum(maximum(grown, o.min_step_size), o.max_step_size)));
        },
        grads, state.prev_updates, state.step_sizes);
    next.prev_updates = detail::map(
        "rprop",
        []<class T>(const Array<T>& g, const Array<T>& before, const Array<T>& size) {
          return Array<T>(where(g * before < T(0), T(0), size * sign(g)));
        },
        grads, state.prev_updates, next.step_sizes);
    auto updates = detail::map(
        "rprop", [](const auto& step) { return -step; }, next.prev_updates);
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  double rate_;
  RpropOptions options_;
};

// Steps by the sign of the gradient, each element's size growing while the sign stays (Riedmiller and Braun
// 1993), as PyTorch does: for whole batches. learning_rate is the first size. (optax's takes each step one
// call later.) `update` throws ValueError where the trees of gradients and state differ.
inline Rprop rprop(double learning_rate, const RpropOptions& options = {}) {
  return Rprop(learning_rate, options);
}

}  // namespace optim
NAX_END
