#pragma once

#include <utility>

#include "nax/optim/scaling.hpp"

// Averages of the parameters in place of a rate that falls (Defazio and others 2024).
NAX_BEGIN
namespace optim {

struct ScheduleFreeOptions {
  double b1 = 0.9;               // share of the average in the parameters
  double weight_lr_power = 2.0;  // a step's weight in the average is the largest rate so far to this power
};
template <class P, class Inner>
struct ScheduleFreeState {
  Array<float> b1, weight_sum, max_lr;
  Count step_count;
  Inner base_optimizer_state;
  P z;  // the parameters that the inner optimiser moves
};
template <class P, class Inner>
ScheduleFreeState(Array<float>, Array<float>, Array<float>, Count, Inner, P) -> ScheduleFreeState<P, Inner>;

template <class Optimizer, detail::Rate R>
class ScheduleFree {
 public:
  ScheduleFree(Optimizer inner, R rate, const ScheduleFreeOptions& options)
      : inner_(std::move(inner)), rate_(std::move(rate)), options_(options) {
    if (!(options.b1 > 0)) raise<ValueError>({"schedule_free: b1 must be positive, got ", options.b1});
  }
  template <class P>
  auto init(const P& params) const {
    const Array<float> none(0.f);
    return ScheduleFreeState{
        Array<float>(static_cast<float>(options_.b1)), none, none, Count(1), inner_.init(params), params};
  }
  template <class G, class Z, class S, class P>
  [[nodiscard]] auto update(const G& grads, ScheduleFreeState<Z, S> state, const P& params) const {
    const double b1 = options_.b1;
    const Array<float> rate(detail::rate_at(rate_, state.step_count));
    state.max_lr = maximum(state.max_lr, rate);
    const Array<float> weight = power(state.max_lr, static_cast<float>(options_.weight_lr_power));
    state.weight_sum = state.weight_sum + weight;
    const Array<float> share = where(state.weight_sum == 0.f, 0.f, weight / state.weight_sum);
    state.step_count = detail::next(state.step_count);
    auto [steps, inner] = inner_.update(grads, std::move(state.base_optimizer_state), params);
    state.base_optimizer_state = std::move(inner);
    Z z = detail::map(
        "schedule_free", [](const auto& at, const auto& step) { return at + step; }, state.z, steps);
    auto updates = detail::map(
        "schedule_free",
        [&]<class T>(const Array<T>& y, const Array<T>& before, const Array<T>& now) {
          const Array<T> part = share.template astype<T>();
          const Array<T> x = (1 - part) * ((y - (1 - b1) * before) / b1) + part * now;
          return Array<T>(b1 * x + (1 - b1) * now - y);
        },
        params, state.z, z);
    state.z = std::move(z);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  Optimizer inner_;
  R rate_;
  ScheduleFreeOptions options_;
};

// An optimiser without momentum of its own, whose parameters are b1 of an average and 1 - b1 of the steps;
// evaluate the model by schedule_free_eval_params. Throws ValueError unless b1 is positive; `update` where
// the trees of gradients and state differ.
template <class Optimizer, detail::Rate R>
ScheduleFree<Optimizer, R> schedule_free(Optimizer base_optimizer, R learning_rate,
                                         const ScheduleFreeOptions& options = {}) {
  return {std::move(base_optimizer), std::move(learning_rate), options};
}
// The averaged parameters, by which the model is evaluated and kept. Throws ValueError where the trees
// differ.
template <class Z, class S, class P>
P schedule_free_eval_params(const ScheduleFreeState<Z, S>& state, const P& params) {
  return tree::detail::map(
      "schedule_free_eval_params",
      [&](const auto& y, const auto& z) {
        using Leaf = std::remove_cvref_t<decltype(y)>;
        if constexpr (detail::trained_v<Leaf>) {
          using T = typename Leaf::value_type;
          const Array<T> b1 = state.b1.template astype<T>();
          return Leaf((y - (1 - b1) * z) / b1);
        } else {
          return y;
        }
      },
      params, state.z);
}

namespace detail {

// The rate, linearly from 0 in so many steps.
inline auto warmed_up(double rate, std::int64_t steps) {
  return [=](const auto& done) -> typename Later<decltype(done)>::Float {
    using Float = typename Later<decltype(done)>::Float;
    if (steps <= 0) return Float(static_cast<float>(rate));
    const float all = static_cast<float>(steps);
    return Float(minimum(as_float(as_count(done)), all) / all * static_cast<float>(rate));
  };
}

}  // namespace detail

struct ScheduleFreeSgdOptions {
  std::int64_t warmup_steps = 0;
  double b1 = 0.9, weight_decay = 0, weight_lr_power = 2.0;
};
// schedule_free of sgd.
template <class O = ScheduleFreeSgdOptions>
auto schedule_free_sgd(double learning_rate = 1.0, const ScheduleFreeSgdOptions& options = {}) {
  const O& o = options;
  const auto rate = detail::warmed_up(learning_rate, o.warmup_steps);
  return schedule_free(chain(add_decayed_weights(o.weight_decay), sgd(rate)), rate,
                       {.b1 = o.b1, .weight_lr_power = o.weight_lr_power});
}
struct ScheduleFreeAdamWOptions {
  std::int64_t warmup_steps = 0;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  double weight_decay = 0, weight_lr_power = 2.0;
};
// schedule_free of adamw without its momentum.
template <class O = ScheduleFreeAdamWOptions>
auto schedule_free_adamw(double learning_rate = 0.0025, const ScheduleFreeAdamWOptions& options = {}) {
  const O& o = options;
  const auto rate = detail::warmed_up(learning_rate, o.warmup_steps);
  return schedule_free(chain(scale_by_adam({.b1 = 0, .b2 = o.b2, .eps = o.eps}),
                             add_decayed_weights(o.weight_decay), scale_by_learning_rate(rate)),
                       rate, {.b1 = o.b1, .weight_lr_power = o.weight_lr_power});
}

}  // namespace optim
NAX_END
