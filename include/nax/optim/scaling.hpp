#pragma once

#include <cmath>
#include <utility>

#include "nax/numpy/reductions/variance.hpp"
#include "nax/optim/adam.hpp"
#include "nax/optim/sgd.hpp"

// Parts of optimisers for chain, by optax's names: they scale updates by constants, rates, norms or averages.
NAX_BEGIN
namespace optim {

class Scale : public Stateless {
 public:
  explicit Scale(double factor) : factor_(factor) {}
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    const double factor = factor_;
    auto updates = detail::map(
        "scale", [factor](const auto& g) { return g * factor; }, grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double factor_;
};
// Multiplies updates by step_size.
inline Scale scale(double step_size) { return Scale(step_size); }

// Multiplies updates by -learning_rate, a number or a schedule: the last part of a chain.
template <detail::Rate R>
auto scale_by_learning_rate(R learning_rate) {
  return Sgd<R>(std::move(learning_rate), {});
}

// Adam's direction, without a rate: the first part of a chain.
template <class R = double>
auto scale_by_adam(const AdamOptions& options = {}) {
  return adam(R(-1), options);
}

struct TraceOptions {
  bool nesterov = false;
};
// Momentum: the trace of updates, decay * trace + update.
inline auto trace(double decay, const TraceOptions& options = {}) {
  return sgd(-1.0, {.momentum = decay, .nesterov = options.nesterov});
}

struct EmaOptions {
  bool debias = true;
};
template <class P>
struct EmaState {
  Count count;
  P ema;
};
// Replaces updates by their exponential moving average: decay * average + (1 - decay) * update, divided by
// 1 - decay^steps where debias is true.
class Ema {
 public:
  Ema(double decay, const EmaOptions& options) : decay_(decay), options_(options) {}
  template <class P>
  EmaState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, EmaState<S> state, const P&...) const {
    state.count = detail::next(state.count);
    tree::detail::for_each(
        "ema",
        [&](const auto& g, auto& average) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            detail::Assignments now;
            detail::mix(now, average, 1 - decay_, g, decay_, average);
          }
        },
        grads, state.ema);
    auto updates = detail::map(
        "ema",
        [&]<class T>(const Array<T>& average) {
          if (!options_.debias) return average;
          return Array<T>(average * detail::debias<T>(decay_, state.count));
        },
        state.ema);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  double decay_;
  EmaOptions options_;
};
// Replaces updates by their exponential moving average. `update` throws ValueError where the trees of updates
// and state differ.
inline Ema ema(double decay, const EmaOptions& options = {}) { return Ema(decay, options); }

// step_size * new + (1 - step_size) * old for each leaf that is trained: the average of parameters by which a
// model is evaluated, where step_size is small. Other leaves are those of new_tensors. Throws ValueError
// where the trees differ.
template <class P>
P incremental_update(const P& new_tensors, const P& old_tensors, double step_size) {
  return tree::detail::map(
      "incremental_update",
      [step_size](const auto& now, const auto& old) {
        using Leaf = std::remove_cvref_t<decltype(now)>;
        if constexpr (detail::trained_v<Leaf>)
          return Leaf(detail::mix(step_size, now, 1 - step_size, old));
        else
          return now;
      },
      new_tensors, old_tensors);
}

namespace detail {
// The root of the sum of squares of one leaf, 0-d; of half types in float.
template <class T>
Array<lane_t<T>> leaf_norm(const Array<T>& x_) {
  const auto x = as_type<lane_t<T>>(x_);
  return Array<lane_t<T>>(sqrt(Array<lane_t<T>>(sum(x * x))));
}
// The root of the mean of squares of one leaf, 0-d; of half types in float.
template <class T>
Array<lane_t<T>> leaf_rms(const Array<T>& x_) {
  const auto x = as_type<lane_t<T>>(x_);
  return Array<lane_t<T>>(sqrt(Array<lane_t<T>>(mean(x * x))));
}
}  // namespace detail

struct TrustRatioOptions {
  double min_norm = 0, trust_coefficient = 1, eps = 0;
};
// Scales each leaf's update by the norm of its parameters over the norm of the update; by 1 where either
// norm is 0.
class ScaleByTrustRatio : public Stateless {
 public:
  explicit ScaleByTrustRatio(const TrustRatioOptions& options) : options_(options) {}
  template <class G, class P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P& params) const {
    const TrustRatioOptions o = options_;
    auto updates = detail::map(
        "scale_by_trust_ratio",
        [o]<class T>(const Array<T>& g, const Array<T>& p) {
          using L = nax::detail::lane_t<T>;
          const Array<L> of_p = maximum(detail::leaf_norm(p), o.min_norm),
                         of_g = maximum(detail::leaf_norm(g), o.min_norm);
          const Array<L> ratio = o.trust_coefficient * of_p / (of_g + o.eps);
          return detail::as_type<T>(g * where(logical_or(of_p == L(0), of_g == L(0)), L(1), ratio));
        },
        grads, params);
    return std::pair{std::move(updates), state};
  }

 private:
  TrustRatioOptions options_;
};
// Scales each leaf's update by the norm of its parameters over the norm of the update. `update` throws
// ValueError where the trees of updates and parameters differ.
inline ScaleByTrustRatio scale_by_trust_ratio(const TrustRatioOptions& options = {}) {
  return ScaleByTrustRatio(options);
}

class ClipByBlockRms : public Stateless {
 public:
  explicit ClipByBlockRms(double threshold) : threshold_(threshold) {}
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    const double threshold = threshold_;
    auto updates = detail::map(
        "clip_by_block_rms",
        [threshold]<class T>(const Array<T>& g) {
          return detail::as_type<T>(g / maximum(detail::leaf_rms(g) / threshold, 1));
        },
        grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double threshold_;
};
// Shortens each leaf whose root mean square exceeds `threshold` to that size.
inline ClipByBlockRms clip_by_block_rms(double threshold) { return ClipByBlockRms(threshold); }

struct LambOptions {
  double b1 = 0.9, b2 = 0.999;
  double eps = 1e-6, eps_root = 0;
  double weight_decay = 0;
};
// Adam with weight decay whose step has, leaf by leaf, the size of the parameters.
template <detail::Rate R>
auto lamb(R learning_rate, const LambOptions& o = {}) {
  return chain(scale_by_adam(detail::adam_options(o)), add_decayed_weights(o.weight_decay),
               scale_by_trust_ratio(), scale_by_learning_rate(std::move(learning_rate)));
}

struct LarsOptions {
  double weight_decay = 0, trust_coefficient = 0.001, eps = 0, momentum = 0.9;
  bool nesterov = false;
};
// Momentum whose step has, leaf by leaf, trust_coefficient of the size of the parameters.
template <detail::Rate R>
auto lars(R learning_rate, const LarsOptions& o = {}) {
  return chain(add_decayed_weights(o.weight_decay),
               scale_by_trust_ratio({.trust_coefficient = o.trust_coefficient, .eps = o.eps}),
               scale_by_learning_rate(std::move(learning_rate)), trace(o.momentum, {.nesterov = o.nesterov}));
}

}  // namespace optim
NAX_END
