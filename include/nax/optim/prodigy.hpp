#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct ProdigyOptions {
  double b1 = 0.9, b2 = 0.999;
  std::optional<double> beta3 = {};  // decay of the estimate's sums, the root of b2 when not given
  double eps = 1e-8;
  double estim_lr0 = 1e-6;  // the first estimate of the rate, too small
  double estim_lr_coef = 1;
  double weight_decay = 0;
  bool safeguard_warmup = false;  // leave the learning rate out of the estimate's denominator
};

template <class P>
struct ProdigyState {
  P exp_avg, exp_avg_sq, grad_sum, params0;
  Array<float> estim_lr, numerator_weighted;
  Count count;
};

template <detail::Rate R>
class Prodigy {
 public:
  Prodigy(R rate, const ProdigyOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  ProdigyState<detail::Like<P>> init(const P& params) const {
    const auto none = detail::filled(params, 0);
    auto first = detail::map(
        "prodigy", [](const auto& p) { return p; }, params);
    return {none,
            none,
            none,
            std::move(first),
            Array<float>(static_cast<float>(options_.estim_lr0)),
            Array<float>(0.f),
            detail::no_steps()};
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, ProdigyState<S> state, const P& params) const {
    using Real = nax::detail::where_used_t<Array<float>, G>;
    const ProdigyOptions o = options_;
    const double beta3 = o.beta3.value_or(std::sqrt(o.b2));
    const Real rate(detail::rate_at(rate_, state.count)), before = state.estim_lr;
    state.count = detail::next(state.count);
    const Real steps = state.count.template astype<float>();
    const auto left = [&](double decay) { return 1 - power(static_cast<float>(decay), steps); };
    const Real dlr = before * rate * (sqrt(left(o.b2)) / left(o.b1));
    const Real grown = (o.safeguard_warmup ? before : dlr) * before / static_cast<float>(o.estim_lr0);

    Real numerator(0.f), denominator(0.f);
    tree::detail::for_each(
        "prodigy",
        [&](const auto& g, const auto& p, const auto& first, auto& m, auto& v, auto& total) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            using T = typename std::remove_cvref_t<decltype(g)>::value_type;
            const Array<T> d = g * before.template astype<T>();
            numerator = numerator + Array<T>(sum(g * (first - p))).template astype<float>();
            m = o.b1 * m + (1 - o.b1) * d;
            v = o.b2 * v + (1 - o.b2) * (d * d);
            total = beta3 * total + g * grown.template astype<T>();
            denominator = denominator + Array<T>(sum(abs(total))).template astype<float>();
          }
        },
        grads, params, state.params0, state.exp_avg, state.exp_avg_sq, state.grad_sum);
    state.numerator_weighted = static_cast<float>(beta3) * state.numerator_weighted +
                               before / static_cast<float>(o.estim_lr0) * dlr * numerator;
    state.estim_lr =
        maximum(before, static_cast<float>(o.estim_lr_coef) * state.numerator_weighted / denominator);
    auto updates = detail::map(
        "prodigy",
        [&]<class T>(const Array<T>& m, const Array<T>& v, const Array<T>& p) {
          const Array<T> step = dlr.template astype<T>(), least = state.estim_lr.template astype<T>() * o.eps;
          return Array<T>(-o.weight_decay * step * p - step * m / (sqrt(v) + least));
        },
        state.exp_avg, state.exp_avg_sq, params);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  R rate_;
  ProdigyOptions options_;
};

// AdamW that finds its rate by itself (Mishchenko and Defazio 2023); learning_rate, 1 or a schedule with 1 at
// its peak, multiplies it. `update` throws ValueError where the trees of gradients and state differ.
template <detail::Rate R = double>
Prodigy<R> prodigy(R learning_rate = 1.0, const ProdigyOptions& options = {}) {
  return Prodigy<R>(std::move(learning_rate), options);
}

}  // namespace optim
NAX_END
