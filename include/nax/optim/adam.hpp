#pragma once

#include "nax/optim/transformation.hpp"

namespace nax::optim {

struct AdamOptions {
  double b1 = 0.9, b2 = 0.999;  // decay of the means of gradients and of their squares
  double eps = 1e-8, eps_root = 0;
};
struct AdamWOptions {
  double b1 = 0.9, b2 = 0.999;
  double eps = 1e-8, eps_root = 0;
  double weight_decay = 1e-4;
};

template <class P>
struct AdamState {
  Count count;
  P mu, nu;
};

// Adam, and AdamW where a weight decay is given (even one of zero asks for the params then).
template <detail::Rate R, bool decays>
class Adam {
 public:
  Adam(R rate, const AdamWOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  AdamState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0), detail::filled(params, 0)};
  }

  template <class G, class S>
  requires(!decays) auto update(const G& grads, const AdamState<S>& state) const {
    return update(grads, state, grads);
  }
  template <class G, class S, class P>
  auto update(const G& grads, const AdamState<S>& state, const P& params) const {
    const AdamWOptions& o = options_;
    AdamState<S> next{detail::next(state.count), {}, {}};
    next.mu = detail::map(
        "adam", [&](const auto& g, const auto& m) { return detail::mix(1 - o.b1, g, o.b1, m); }, grads,
        state.mu);
    next.nu = detail::map(
        "adam", [&](const auto& g, const auto& v) { return detail::mix_square(1 - o.b2, g, o.b2, v); }, grads,
        state.nu);
    const auto rate = detail::rate_at(rate_, state.count);
    auto updates = detail::map(
        "adam",
        [&]<class T>(const Array<T>& m, const Array<T>& v, [[maybe_unused]] const Array<T>& p) {
          // The means began at zero; in the leaf's precision, as optax has it.
          const Array<T> done = next.count.template astype<T>();
          const Array<T> first = 1 - power(static_cast<T>(o.b1), done),
                         second = 1 - power(static_cast<T>(o.b2), done);
          const Array<T> step = (m / first) / (sqrt(v / second + o.eps_root) + o.eps);
          if constexpr (decays)
            return detail::descend(detail::mix(1, step, o.weight_decay, p), rate);
          else
            return detail::descend(step, rate);
        },
        next.mu, next.nu, params);
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  R rate_;
  AdamWOptions options_;
};

template <detail::Rate R>
Adam<R, false> adam(R learning_rate, const AdamOptions& options = {}) {
  return {std::move(learning_rate),
          {.b1 = options.b1,
           .b2 = options.b2,
           .eps = options.eps,
           .eps_root = options.eps_root,
           .weight_decay = 0}};
}
// Adam whose weights decay by themselves, not through the gradient.
template <detail::Rate R>
Adam<R, true> adamw(R learning_rate, const AdamWOptions& options = {}) {
  return {std::move(learning_rate), options};
}

}  // namespace nax::optim
