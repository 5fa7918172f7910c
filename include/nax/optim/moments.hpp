#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/optim/adam.hpp"

// The relatives of Adam, by optax's names and formulas: averages of gradients and of their squares or sizes,
// each of the parameters' shape. A rule names its averages and how one leaf advances; the class below walks
// the trees, in one pass over memory for update and for step.
NAX_BEGIN
namespace optim {

template <class P>
struct AmsgradState {
  Count count;
  P mu, nu, nu_max;
};

namespace detail {

template <class P>
auto averages_of(AdamState<P>& state) {
  return std::tie(state.mu, state.nu);
}
template <class P>
auto averages_of(AmsgradState<P>& state) {
  return std::tie(state.mu, state.nu, state.nu_max);
}

// A rule has
//   name                                  for messages
//   init(params)                          -> its state: a count, and averages like params
//   Factors<T>(rule, steps)               numbers of this step, the same for all elements of a leaf
//   advance(now, factors, g, u, m, v...)  assigns the next averages and the update u, before rate and decay
template <detail::Rate R, class Rule, bool decays>
class Moments {
 public:
  Moments(R rate, Rule rule, double weight_decay)
      : rate_(std::move(rate)), rule_(std::move(rule)), weight_decay_(weight_decay) {}

  template <class P>
  auto init(const P& params) const {
    return rule_.init(params);
  }
  // A state that is given away (std::move) is brought up to date where it lies.
  template <class G, class S>
  requires(!decays) auto update(const G& grads, S state) const {
    return update(grads, std::move(state), grads);
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, S state, const P& params) const {
    Like<G> updates = blank(Rule::name, grads);
    const auto rate = rate_at(rate_, state.count);
    state.count = next(state.count);
    std::apply(
        [&](auto&... averages) {
          tree::detail::for_each(
              Rule::name,
              [&](const auto& g, const auto& p, auto& u, auto&... m) {
                if constexpr (trained_v<std::remove_cvref_t<decltype(g)>>) {
                  Assignments now;
                  advance(now, factors(u, state.count), rate, g, p, u, m...);
                }
              },
              grads, params, updates, averages...);
        },
        averages_of(state));
    return std::pair{std::move(updates), std::move(state)};
  }
  template <class G, class S, class P>
  auto step(const G& grads, S state, P params) const {
    const auto rate = rate_at(rate_, state.count);
    state.count = next(state.count);
    std::apply(
        [&](auto&... averages) {
          tree::detail::for_each(
              Rule::name,
              [&](const auto& g, auto& p, auto&... m) {
                if constexpr (trained_v<std::remove_cvref_t<decltype(g)>>) {
                  const auto f = factors(p, state.count);
                  step_leaf(p, [&](Assignments& now, auto& u) { advance(now, f, rate, g, p, u, m...); });
                }
              },
              grads, params, averages...);
        },
        averages_of(state));
    return std::pair{std::move(params), std::move(state)};
  }

 private:
  template <class T>
  auto factors(const Array<T>&, const Count& count) const {
    return typename Rule::template Factors<T>(rule_, count);
  }
  template <class Factors, class Now, class T, class... M>
  void advance(Assignments& now, const Factors& f, const Now& rate, const Array<T>& g,
               [[maybe_unused]] const Array<T>& p, Array<T>& u, M&... m) const {
    rule_.advance(now, f, g, u, m...);
    if constexpr (decays) mix(now, u, 1, u, weight_decay_, p);
    descend(now, u, u, rate);
  }

  R rate_;
  Rule rule_;
  double weight_decay_;
};

struct NadamRule : AdamOptions {
  static constexpr const char* name = "nadam";
  template <class P>
  AdamState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 0), filled(params, 0)};
  }
  template <class T>
  struct Factors {
    Array<T> g, mu, nu;
    Factors(const NadamRule& o, const Count& steps)
        : g(debias<T>(o.b1, steps)), mu(debias<T>(o.b1, next(steps))), nu(debias<T>(o.b2, steps)) {}
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v) const {
    mix(now, m, 1 - b1, g, b1, m);
    mix_square(now, v, 1 - b2, g, b2, v);
    now.assign(u, (b1 * (m * f.mu) + (1 - b1) * (g * f.g)) / (sqrt(v * f.nu + eps_root) + eps));
  }
};

struct AdamaxRule : AdamOptions {
  static constexpr const char* name = "adamax";
  template <class P>
  AdamState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 0), filled(params, 0)};
  }
  template <class T>
  struct Factors {
    Array<T> mu;
    Factors(const AdamaxRule& o, const Count& steps) : mu(debias<T>(o.b1, steps)) {}
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v) const {
    mix(now, m, 1 - b1, g, b1, m);
    now.assign(v, maximum(abs(g) + eps, b2 * v));
    now.assign(u, (m * f.mu) / v);
  }
};

// v is the average of squared errors of m, not of squared gradients.
struct AdabeliefRule : AdamOptions {
  static constexpr const char* name = "adabelief";
  template <class P>
  AdamState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 0), filled(params, 0)};
  }
  template <class T>
  struct Factors {
    Array<T> mu, nu;
    Factors(const AdabeliefRule& o, const Count& steps)
        : mu(debias<T>(o.b1, steps)), nu(debias<T>(o.b2, steps)) {}
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v) const {
    mix(now, m, 1 - b1, g, b1, m);
    now.assign(u, g - m);
    now.assign(v, (1 - b2) * (u * u) + b2 * v + eps_root);
    now.assign(u, (m * f.mu) / (sqrt(v * f.nu) + eps));
  }
};

struct YogiRule : AdamOptions {
  static constexpr const char* name = "yogi";
  template <class P>
  AdamState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 1e-6), filled(params, 1e-6)};
  }
  template <class T>
  struct Factors {
    Array<T> mu, nu;
    Factors(const YogiRule& o, const Count& steps) : mu(debias<T>(o.b1, steps)), nu(debias<T>(o.b2, steps)) {}
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v) const {
    mix(now, m, 1 - b1, g, b1, m);
    now.assign(v, v - (1 - b2) * (sign(v - g * g) * (g * g)));
    now.assign(u, (m * f.mu) / (sqrt(v * f.nu + eps_root) + eps));
  }
};

// The length of the average of squares decides, by `threshold`, whether its variance is usable.
struct RadamRule : AdamOptions {
  double threshold = 5;
  static constexpr const char* name = "radam";
  template <class P>
  AdamState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 0), filled(params, 0)};
  }
  template <class T>
  struct Factors {
    Array<T> mu, nu, rectifier;  // rectifier: 0 where the variance is not usable
    Factors(const RadamRule& o, const Count& steps) : mu(debias<T>(o.b1, steps)), nu(debias<T>(o.b2, steps)) {
      const double most = 2 / (1 - o.b2) - 1;
      using C = nax::detail::lane_t<T>;
      const Array<C> number = steps.template astype<C>(), left = power(static_cast<C>(o.b2), number);
      const Array<C> length = most - 2 * number * left / (1 - left);
      const Array<C> squared = (length - 4) * (length - 2) * (most / ((most - 4) * (most - 2))) / length;
      rectifier = Array<C>(where(length >= o.threshold, sqrt(maximum(squared, 0)), 0)).template astype<T>();
    }
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v) const {
    mix(now, m, 1 - b1, g, b1, m);
    mix_square(now, v, 1 - b2, g, b2, v);
    now.assign(
        u, where(f.rectifier > 0, f.rectifier * (m * f.mu) / (sqrt(v * f.nu + eps_root) + eps), m * f.mu));
  }
};

struct AmsgradRule : AdamOptions {
  static constexpr const char* name = "amsgrad";
  template <class P>
  AmsgradState<Like<P>> init(const P& params) const {
    return {no_steps(), filled(params, 0), filled(params, 0), filled(params, 0)};
  }
  template <class T>
  struct Factors {
    Array<T> mu, nu;
    Factors(const AmsgradRule& o, const Count& steps)
        : mu(debias<T>(o.b1, steps)), nu(debias<T>(o.b2, steps)) {}
  };
  template <class T>
  void advance(Assignments& now, const Factors<T>& f, const Array<T>& g, Array<T>& u, Array<T>& m,
               Array<T>& v, Array<T>& most) const {
    mix(now, m, 1 - b1, g, b1, m);
    mix_square(now, v, 1 - b2, g, b2, v);
    now.assign(most, maximum(most, v * f.nu));
    now.assign(u, (m * f.mu) / (sqrt(most + eps_root) + eps));
  }
};

}  // namespace detail

struct AdabeliefOptions {
  double b1 = 0.9, b2 = 0.999;
  double eps = 1e-16, eps_root = 1e-16;
};
struct RadamOptions {
  double b1 = 0.9, b2 = 0.999;
  double eps = 1e-8, eps_root = 0;
  double threshold = 5;
};
struct YogiOptions {
  double b1 = 0.9, b2 = 0.999;
  double eps = 1e-3, eps_root = 0;
};

// Adam with Nesterov's momentum. `update` throws ValueError where the trees of gradients and state differ.
template <detail::Rate R>
auto nadam(R learning_rate, const AdamOptions& options = {}) {
  return detail::Moments<R, detail::NadamRule, false>(std::move(learning_rate), {options}, 0);
}
// nadam whose weights decay by themselves, not through the gradient.
template <detail::Rate R>
auto nadamw(R learning_rate, const AdamWOptions& o = {}) {
  return detail::Moments<R, detail::NadamRule, true>(std::move(learning_rate), {detail::adam_options(o)},
                                                     o.weight_decay);
}
// Adam with the largest gradient, decayed, in place of the average of squares. `update` throws ValueError
// where the trees of gradients and state differ.
template <detail::Rate R>
auto adamax(R learning_rate, const AdamOptions& options = {}) {
  return detail::Moments<R, detail::AdamaxRule, false>(std::move(learning_rate), {options}, 0);
}
// adamax whose weights decay by themselves, not through the gradient.
template <detail::Rate R>
auto adamaxw(R learning_rate, const AdamWOptions& o = {}) {
  return detail::Moments<R, detail::AdamaxRule, true>(std::move(learning_rate), {detail::adam_options(o)},
                                                      o.weight_decay);
}
// Adam with the average of squared deviations of the gradient from its average. `update` throws ValueError
// where the trees of gradients and state differ.
template <detail::Rate R>
auto adabelief(R learning_rate, const AdabeliefOptions& o = {}) {
  return detail::Moments<R, detail::AdabeliefRule, false>(std::move(learning_rate), {detail::adam_options(o)},
                                                          0);
}
// Adam whose average of squares grows slowly. `update` throws ValueError where the trees of gradients and
// state differ.
template <detail::Rate R>
auto yogi(R learning_rate, const YogiOptions& o = {}) {
  return detail::Moments<R, detail::YogiRule, false>(std::move(learning_rate), {detail::adam_options(o)}, 0);
}
// Rectified Adam: plain momentum until the variance of the average of squares is small enough. `update`
// throws ValueError where the trees of gradients and state differ.
template <detail::Rate R>
auto radam(R learning_rate, const RadamOptions& o = {}) {
  return detail::Moments<R, detail::RadamRule, false>(std::move(learning_rate),
                                                      {detail::adam_options(o), o.threshold}, 0);
}
// Adam with the largest average of squares so far. `update` throws ValueError where the trees of gradients
// and state differ.
template <detail::Rate R>
auto amsgrad(R learning_rate, const AdamOptions& options = {}) {
  return detail::Moments<R, detail::AmsgradRule, false>(std::move(learning_rate), {options}, 0);
}

}  // namespace optim
NAX_END
