#pragma once

#include "nax/loops/lane.hpp"
#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

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

namespace detail {
// The numbers that all of Adam's relatives have, of the options of one.
template <class Options>
AdamOptions adam_options(const Options& o) {
  return {.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root};
}

// Averages that began at zero are divided by 1 - decay^steps; this is the reciprocal. Half types compute it
// in float, since a decay of 0.999 would round to 1 in bfloat16.
template <class T>
Array<T> debias(double decay, const Count& count) {
  using C = nax::detail::lane_t<T>;
  const Array<C> factor = 1 / (1 - power(static_cast<C>(decay), count.template astype<C>()));
  return factor.template astype<T>();
}

template <class T>
struct Debias {
  Array<T> mu, nu;
  Debias(const Array<T>& /*leaf*/, const Count& count, const AdamWOptions& o) {
    mu = debias<T>(o.b1, count);
    nu = debias<T>(o.b2, count);
  }
};
}  // namespace detail

// Adam, and AdamW where a weight decay is given (even one of zero asks for the params then).
template <detail::Rate R, bool decays>
class Adam {
 public:
  Adam(R rate, const AdamWOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  AdamState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0), detail::filled(params, 0)};
  }

  // A state that is given away (std::move) is brought up to date where it lies.
  template <class G, class S>
  requires(!decays) auto update(const G& grads, AdamState<S> state) const {
    return update(grads, std::move(state), grads);
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, AdamState<S> state, const P& params) const {
    detail::Like<G> updates = detail::blank("adam", grads);
    const auto rate = detail::rate_at(rate_, state.count);
    state.count = detail::next(state.count);
    detail::LeafSteps steps = detail::leaf_steps(numbers(false), rate, &state.count);
    tree::detail::for_each(
        "adam",
        [&](const auto& g, auto& m, auto& v, const auto& p, auto& u) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            ArrayBase* const averages[] = {&m, &v};
            if (steps.take(g, decays ? &p : nullptr, u, averages, 2)) return;
            detail::Assignments now;
            advance(now, g, m, v, p, detail::Debias(m, state.count, options_), rate, u);
          }
        },
        grads, state.mu, state.nu, params, updates);
    steps.run();
    return std::pair{std::move(updates), std::move(state)};
  }
  template <class G, class S, class P>
  auto step(const G& grads, AdamState<S> state, P params) const {
    const auto rate = detail::rate_at(rate_, state.count);
    state.count = detail::next(state.count);
    detail::LeafSteps steps = detail::leaf_steps(numbers(true), rate, &state.count);
    tree::detail::for_each(
        "adam",
        [&](const auto& g, auto& m, auto& v, auto& p) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            ArrayBase* const averages[] = {&m, &v};
            if (steps.take(g, &p, p, averages, 2)) return;
            const detail::Debias debias(m, state.count, options_);
            detail::step_leaf(
                p, [&](detail::Assignments& now, auto& u) { advance(now, g, m, v, p, debias, rate, u); });
          }
        },
        grads, state.mu, state.nu, params);
    steps.run();
    return std::pair{std::move(params), std::move(state)};
  }

 private:
  loops::StepNumbers numbers(bool adds_to_params) const {
    loops::StepNumbers n{};
    n.rule = loops::StepRule::adam;
    n.adds_to_params = adds_to_params;
    n.decays = decays;
    n.weight_decay = options_.weight_decay;
    n.b1 = options_.b1, n.b2 = options_.b2;
    n.eps = options_.eps, n.eps_root = options_.eps_root;
    return n;
  }
  // A leaf's means as they are next, and its update u.
  template <class T, class Now>
  void advance(detail::Assignments& now, const Array<T>& g, Array<T>& m, Array<T>& v,
               [[maybe_unused]] const Array<T>& p, const detail::Debias<T>& debias, const Now& rate,
               Array<T>& u) const {
    const AdamWOptions& o = options_;
    detail::mix(now, m, 1 - o.b1, g, o.b1, m);
    detail::mix_square(now, v, 1 - o.b2, g, o.b2, v);
    now.assign(u, (m * debias.mu) / (sqrt(v * debias.nu + o.eps_root) + o.eps));
    if constexpr (decays) detail::mix(now, u, 1, u, o.weight_decay, p);
    detail::descend(now, u, u, rate);
  }

  R rate_;
  AdamWOptions options_;
};

// Steps along the average gradient over the root of the average square (Kingma and Ba 2014). `update` throws
// ValueError where the trees of gradients and state differ.
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

}  // namespace optim
NAX_END
