#pragma once

#include <utility>

#include "nax/lax/branches.hpp"
#include "nax/optim/transformation.hpp"

// Sharpness-aware minimisation: gradients at the worst place nearby.
NAX_BEGIN
namespace optim {

class Normalize : public Stateless {
 public:
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    const auto norm = global_norm(grads);
    const Array<float> some = where(norm == 0.f, 1.f, norm);
    auto updates = detail::map(
        "normalize",
        [&]<class T>(const Array<T>& g) {
          return detail::as_type<T>(g / some.template astype<detail::lane_t<T>>());
        },
        grads);
    return std::pair{std::move(updates), state};
  }
};
// Divides updates by their norm over the whole tree; updates that are all 0 stay. `update` throws ValueError
// for a tree without floating leaves.
inline Normalize normalize() { return {}; }

struct SamOptions {
  std::int64_t sync_period = 2;  // every so many steps is one of the outer optimiser
  bool reset_state = true;       // of the adversarial optimiser, after such a step
};
template <class P, class Outer, class Adversary>
struct SamState {
  Count steps_since_sync;
  Outer opt_state;
  Adversary adv_state;
  P cache;  // the parameters at the last step of the outer optimiser
};
template <class P, class Outer, class Adversary>
SamState(Count, Outer, Adversary, P) -> SamState<P, Outer, Adversary>;

template <class Optimizer, class Adversary>
class Sam {
 public:
  Sam(Optimizer outer, Adversary adversary, const SamOptions& options)
      : outer_(std::move(outer)), adversary_(std::move(adversary)), options_(options) {
    if (options.sync_period < 1)
      raise<ValueError>({"sam: sync_period must be at least 1, got ", options.sync_period});
  }
  template <class P>
  auto init(const P& params) const {
    return SamState{detail::no_steps(), outer_.init(params), adversary_.init(params), params};
  }
  template <class G, class C, class O, class A, class P>
  [[nodiscard]] auto update(const G& grads, SamState<C, O, A> state, const P& params) const {
    using Updates = detail::Like<G>;
    const Array<bool> first = state.steps_since_sync == 0,
                      last = state.steps_since_sync == static_cast<std::int32_t>(options_.sync_period - 1);
    // (The first step may be the last as well.)
    state.cache =
        tree::map([&](const auto& p, const auto& c) { return where(first, p, c); }, params, state.cache);
    const auto back = [&](const C& cache, const O& outer, const A& adversary) {
      auto [steps, next] = outer_.update(grads, outer, cache);
      Updates updates = detail::map(
          "sam", [](const auto& c, const auto& p, const auto& u) { return c - p + u; }, cache, params, steps);
      return std::tuple{std::move(updates), O(std::move(next)),
                        options_.reset_state ? A(adversary_.init(params)) : adversary};
    };
    const auto away = [&](const C&, const O& outer, const A& adversary) {
      auto [steps, next] = adversary_.update(grads, adversary, params);
      Updates updates = detail::map(
          "sam", [](const auto& u) { return -u; }, steps);
      return std::tuple{std::move(updates), outer, A(std::move(next))};
    };
    auto [updates, outer, adversary] =
        lax::cond(last, back, away, state.cache, state.opt_state, state.adv_state);
    state.opt_state = std::move(outer);
    state.adv_state = std::move(adversary);
    state.steps_since_sync = where(last, 0, state.steps_since_sync + 1);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  Optimizer outer_;
  Adversary adversary_;
  SamOptions options_;
};

// Steps of `adv_optimizer` uphill, and every sync_period-th of `optimizer` from where they began, by the
// gradient at the end of them (Foret and others 2020): sam(sgd(0.01), chain(normalize(), sgd(rho))). Throws
// ValueError for a sync_period below 1.
template <class Optimizer, class Adversary>
Sam<Optimizer, Adversary> sam(Optimizer optimizer, Adversary adv_optimizer, const SamOptions& options = {}) {
  return {std::move(optimizer), std::move(adv_optimizer), options};
}

}  // namespace optim
NAX_END
