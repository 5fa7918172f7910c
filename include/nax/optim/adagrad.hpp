#pragma once

#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct AdagradOptions {
  double initial_accumulator_value = 0.1, eps = 1e-7;
};

template <class P>
struct AdagradState {
  Count count;
  P sum_of_squares;
};

// Gradients over the root of the sum of all their squares so far.
template <detail::Rate R>
class Adagrad {
 public:
  Adagrad(R rate, const AdagradOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  AdagradState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, options_.initial_accumulator_value)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, const AdagradState<S>& state, const P&...) const {
    AdagradState<S> next{detail::next(state.count), {}};
    next.sum_of_squares = detail::map(
        "adagrad", [](const auto& g, const auto& s) { return detail::mix_square(1, g, 1, s); }, grads,
        state.sum_of_squares);
    const auto rate = detail::rate_at(rate_, state.count);
    auto updates = detail::map(
        "adagrad",
        [&]<class T>(const Array<T>& g, const Array<T>& s) {
          return detail::descend(Array<T>(where(s > 0, rsqrt(s + options_.eps), T(0)) * g), rate);
        },
        grads, next.sum_of_squares);
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  R rate_;
  AdagradOptions options_;
};

// Steps divided by the root of the sum of squared gradients (Duchi and others 2011). `update` throws
// ValueError where the trees of gradients and state differ.
template <detail::Rate R>
Adagrad<R> adagrad(R learning_rate, const AdagradOptions& options = {}) {
  return Adagrad<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
