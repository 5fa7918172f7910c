#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct AdadeltaOptions {
  double rho = 0.9, eps = 1e-6;
  double weight_decay = 0;  // added to the gradients
};

template <class P>
struct AdadeltaState {
  Count count;
  P e_g, e_x;  // averages of squared gradients and of squared updates
};

// Gradients by the root of the average squared update over that of the average squared gradient.
template <detail::Rate R>
class Adadelta {
 public:
  Adadelta(R rate, const AdadeltaOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  AdadeltaState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0), detail::filled(params, 0)};
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads_, AdadeltaState<S> state, const P& params) const {
    const double rho = options_.rho, eps = options_.eps;
    const auto rate = detail::rate_at(rate_, state.count);
    const auto mean_square = [rho](const auto& x, const auto& average) {
      return detail::mix_square(1 - rho, x, rho, average);
    };
    const detail::Like<G> grads = detail::map(
        "adadelta", [&](const auto& g, const auto& p) { return detail::mix(1, g, options_.weight_decay, p); },
        grads_, params);
    state.count = detail::next(state.count);
    state.e_g = detail::map("adadelta", mean_square, grads, state.e_g);
    const detail::Like<G> directions = detail::map(
        "adadelta",
        [eps](const auto& g, const auto& of_g, const auto& of_x) {
          return sqrt(of_x + eps) / sqrt(of_g + eps) * g;
        },
        grads, state.e_g, state.e_x);
    state.e_x = detail::map("adadelta", mean_square, directions, state.e_x);
    auto updates = detail::map(
        "adadelta", [&](const auto& d) { return detail::descend(d, rate); }, directions);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  R rate_;
  AdadeltaOptions options_;
};

// Steps whose size is that of the updates so far (Zeiler 2012). `update` throws ValueError where the trees of
// gradients and state differ.
template <detail::Rate R>
Adadelta<R> adadelta(R learning_rate, const AdadeltaOptions& options = {}) {
  return Adadelta<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
