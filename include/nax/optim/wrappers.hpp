#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/lax/branches.hpp"
#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/optim/transformation.hpp"

// Optimisers around optimisers, by optax's names: every k-th step, for a part of the leaves, only where
// gradients are finite, with slow copies of the parameters, with rates that live in the state.
NAX_BEGIN
namespace optim {
namespace detail {

// The tree with empty leaves, of shape (0,), in place of those that `keep(path)` refuses. Sums over the tree,
// such as norms, then see the kept ones alone, and states take no memory for the others.
template <class Tree, class Keep>
Tree kept_leaves(const Tree& tree, const Keep& keep) {
  return tree::map_with_path(
      [&]<class Leaf>(const std::string& path, const Leaf& leaf) {
        if constexpr (trained_v<Leaf>)
          return keep(path) ? leaf : Leaf(zeros<typename Leaf::value_type>({0}));
        else
          return leaf;
      },
      tree);
}
// The leaves of `kept` where `keep(path)` holds, those of `others` elsewhere.
template <class Tree, class Keep>
Tree merged_leaves(const Tree& kept, const Tree& others, const Keep& keep) {
  return tree::map_with_path(
      [&](const std::string& path, const auto& a, const auto& b) { return keep(path) ? a : b; }, kept,
      others);
}

}  // namespace detail

template <class Inner>
struct MaskedState {
  Inner inner;
};
// (Guides for the states: clang deduces none for aggregates before version 17.)
template <class Inner>
MaskedState(Inner) -> MaskedState<Inner>;
// An optimiser for the leaves whose path (such as `[0].w`) the mask accepts.
template <class Optimizer, class Mask>
class Masked {
 public:
  Masked(Optimizer inner, Mask mask) : inner_(std::move(inner)), mask_(std::move(mask)) {}
  template <class P>
  auto init(const P& params) const {
    return MaskedState{inner_.init(detail::kept_leaves(params, mask_))};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, MaskedState<S> state, const P&... params) const {
    auto [updates, next] = inner_.update(detail::kept_leaves(grads, mask_), std::move(state.inner),
                                         detail::kept_leaves(params, mask_)...);
    return std::pair{detail::merged_leaves(updates, grads, mask_), MaskedState<S>{std::move(next)}};
  }

 private:
  Optimizer inner_;
  Mask mask_;
};
// masked(opt, [](const std::string& path) { return path.ends_with(".w"); }): the updates of other leaves are
// their gradients, as they came.
template <class Optimizer, class Mask>
Masked<Optimizer, Mask> masked(Optimizer inner, Mask mask) {
  return {std::move(inner), std::move(mask)};
}

class SetToZero : public Stateless {
 public:
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    auto updates = detail::map(
        "set_to_zero", [](const auto& g) { return zeros_like(g); }, grads);
    return std::pair{std::move(updates), state};
  }
};
// Updates of zero: for leaves that stay as they are.
inline SetToZero set_to_zero() { return {}; }

// One optimiser for each group of leaves; label(path) names the group of a leaf.
template <class Label, class... Optimizers>
class MultiTransform {
 public:
  MultiTransform(Label label, std::pair<std::string, Optimizers>... groups)
      : label_(std::move(label)), groups_(std::move(groups)...) {}

  // Throws ValueError for a label that names no group.
  template <class P>
  auto init(const P& params) const {
    check_labels(params);
    return std::apply(
        [&](const auto&... group) {
          return std::make_tuple(group.second.init(detail::kept_leaves(params, keep(group.first)))...);
        },
        groups_);
  }
  template <class G, class... S, class... P>
  [[nodiscard]] auto update(const G& grads, std::tuple<S...> state, const P&... params) const {
    static_assert(sizeof...(S) == sizeof...(Optimizers),
                  "multi_transform: the state belongs to another optimiser");
    G updates = grads;
    update_from<0>(grads, state, updates, params...);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  auto keep(const std::string& group) const {
    return [this, &group](const std::string& path) { return label_(path) == group; };
  }
  template <class P>
  void check_labels(const P& params) const {
    tree::map_with_path(
        [&](const std::string& path, const auto& leaf) {
          const std::string label = label_(path);
          const bool known =
              std::apply([&](const auto&... group) { return (... || (group.first == label)); }, groups_);
          if (!known)
            raise<ValueError>({"multi_transform: the leaf '", path, "' has the label '", label,
                               "', which names no optimiser"});
          return leaf;
        },
        params);
  }
  template <std::size_t i, class G, class S, class... P>
  void update_from(const G& grads, S& state, G& updates, const P&... params) const {
    if constexpr (i < sizeof...(Optimizers)) {
      const auto& group = std::get<i>(groups_);
      const auto mine = keep(group.first);
      auto [part, next] = group.second.update(detail::kept_leaves(grads, mine), std::move(std::get<i>(state)),
                                              detail::kept_leaves(params, mine)...);
      updates = detail::merged_leaves(part, updates, mine);
      std::get<i>(state) = std::move(next);
      update_from<i + 1>(grads, state, updates, params...);
    }
  }
  Label label_;
  std::tuple<std::pair<std::string, Optimizers>...> groups_;
};
// multi_transform(label, std::pair{"weights", adamw(1e-3)}, std::pair{"biases", sgd(1e-2)}). `init` throws
// ValueError for a label that names no optimiser.
template <class Label, class... Names, class... Optimizers>
auto multi_transform(Label label, std::pair<Names, Optimizers>... groups) {
  return MultiTransform<Label, Optimizers...>(
      std::move(label),
      std::pair<std::string, Optimizers>(std::string(groups.first), std::move(groups.second))...);
}

template <class G, class Inner>
struct MultiStepsState {
  Count mini_step, gradient_step;  // gradients since the last step, and steps so far
  G mean;                          // of these gradients
  Inner inner;
};
template <class G, class Inner>
MultiStepsState(Count, Count, G, Inner) -> MultiStepsState<G, Inner>;
// An optimiser that steps with the mean of every `steps` gradients; the other updates are zero.
template <class Optimizer>
class MultiSteps {
 public:
  MultiSteps(Optimizer inner, std::int32_t steps) : inner_(std::move(inner)), steps_(steps) {
    if (steps < 1) raise<ValueError>({"multi_steps: every_k_schedule must be positive, got ", steps});
  }
  template <class P>
  auto init(const P& params) const {
    return MultiStepsState{detail::no_steps(), detail::no_steps(), detail::filled(params, 0),
                           inner_.init(params)};
  }
  template <class G, class M, class S, class... P>
  [[nodiscard]] auto update(const G& grads, MultiStepsState<M, S> state, const P&... params) const {
    state.mini_step = detail::next(state.mini_step);
    const auto part = 1 / state.mini_step.template astype<float>();
    state.mean = detail::map(
        "multi_steps",
        [&]<class T>(const Array<T>& g, const Array<T>& mean) {
          return Array<T>(mean + (g - mean) * part.template astype<T>());
        },
        grads, state.mean);
    const auto step = [&](const M& mean, const S& inner) {
      auto [updates, next] = inner_.update(mean, inner, params...);
      return std::pair{M(updates), S(next)};
    };
    const auto wait = [&](const M& mean, const S& inner) { return std::pair{cleared(mean), inner}; };
    const Array<bool> due = state.mini_step == steps_;
    auto [updates, inner] = lax::cond(due, step, wait, state.mean, state.inner);
    state.inner = std::move(inner);
    state.mean = lax::cond(
        due, [&](const M& mean) { return cleared(mean); }, [](const M& mean) { return mean; }, state.mean);
    state.gradient_step = where(due, state.gradient_step + 1, state.gradient_step);
    state.mini_step = where(due, 0, state.mini_step);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  template <class M>
  static M cleared(const M& tree) {
    return detail::map(
        "multi_steps", [](const auto& leaf) { return zeros_like(leaf); }, tree);
  }
  Optimizer inner_;
  std::int32_t steps_;
};
// Steps once for every every_k_schedule gradients, with their mean; updates between are zero. Throws
// ValueError unless every_k_schedule is positive.
template <class Optimizer>
MultiSteps<Optimizer> multi_steps(Optimizer inner, std::int32_t every_k_schedule) {
  return {std::move(inner), every_k_schedule};
}

template <class Inner>
struct ApplyIfFiniteState {
  Count notfinite_count, total_notfinite;  // in a row, and in all
  Array<bool> last_finite;
  Inner inner;
};
template <class Inner>
ApplyIfFiniteState(Count, Count, Array<bool>, Inner) -> ApplyIfFiniteState<Inner>;
// An optimiser that drops gradients with a NaN or an infinity (the update is zero, its state stays), at most
// max_consecutive_errors times in a row.
template <class Optimizer>
class ApplyIfFinite {
 public:
  ApplyIfFinite(Optimizer inner, std::int32_t most) : inner_(std::move(inner)), most_(most) {}
  template <class P>
  auto init(const P& params) const {
    return ApplyIfFiniteState{detail::no_steps(), detail::no_steps(), Array<bool>(true), inner_.init(params)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, ApplyIfFiniteState<S> state, const P&... params) const {
    using Updates = detail::Like<G>;
    using Bools = detail::where_used_t<Array<bool>, G>;
    Bools finite(true);
    tree::for_each(
        [&](const auto& g) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>)
            finite = finite & Bools(all(isfinite(g)));
        },
        grads);
    state.notfinite_count = where(finite, 0, state.notfinite_count + 1);
    state.total_notfinite = where(finite, state.total_notfinite, state.total_notfinite + 1);
    state.last_finite = finite;
    const Bools apply = finite | Bools(state.notfinite_count > most_);
    auto [updates, inner] = lax::cond(
        apply,
        [&](const G& g, const S& s) {
          auto result = inner_.update(g, s, params...);
          return std::pair{Updates(std::move(result.first)), S(std::move(result.second))};
        },
        [&](const G& g, const S& s) {
          return std::pair{Updates(detail::map(
                               "apply_if_finite", [](const auto& leaf) { return zeros_like(leaf); }, g)),
                           s};
        },
        grads, state.inner);
    state.inner = std::move(inner);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  Optimizer inner_;
  std::int32_t most_;
};
// Drops gradients with a NaN or an infinity, at most max_consecutive_errors times in a row.
template <class Optimizer>
ApplyIfFinite<Optimizer> apply_if_finite(Optimizer inner, std::int32_t max_consecutive_errors) {
  return {std::move(inner), max_consecutive_errors};
}

template <class P>
struct LookaheadParams {
  P fast, slow;
};
// The params of a lookahead optimiser, both copies equal. Gradients are taken by `fast`.
template <class P>
LookaheadParams<P> lookahead_params(const P& params) {
  return {params, params};
}
template <class Inner>
struct LookaheadState {
  Inner fast_state;
  Count steps_since_sync;
};
template <class Inner>
LookaheadState(Inner, Count) -> LookaheadState<Inner>;
// Every sync_period steps of `fast` the slow params move slow_step_size of the way to the fast ones, which
// then begin there. update takes gradients of the fast params, and gives updates of both.
template <class Optimizer>
class Lookahead {
 public:
  Lookahead(Optimizer fast, std::int32_t period, double step_size)
      : fast_(std::move(fast)), period_(period), step_size_(step_size) {
    if (period < 1) raise<ValueError>({"lookahead: sync_period must be positive, got ", period});
  }
  template <class P>
  auto init(const LookaheadParams<P>& params) const {
    return LookaheadState{fast_.init(params.fast), detail::no_steps()};
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, LookaheadState<S> state, const LookaheadParams<P>& params) const {
    auto result = fast_.update(grads, std::move(state.fast_state), params.fast);
    const auto& fast = result.first;
    state.fast_state = std::move(result.second);
    const Array<bool> sync = state.steps_since_sync == period_ - 1;
    const auto moved = [&](double share) {  // where sync: share of what lies between slow and fast
      return detail::map(
          "lookahead",
          [&]<class T>(const Array<T>& u, const Array<T>& f, const Array<T>& s) {
            return Array<T>(where(sync, share * (f + u - s), 0));
          },
          fast, params.fast, params.slow);
    };
    auto slow = moved(step_size_);
    auto both = detail::map(
        "lookahead", [](const auto& u, const auto& back) { return u - back; }, fast, moved(1 - step_size_));
    state.steps_since_sync = where(sync, 0, state.steps_since_sync + 1);
    return std::pair{LookaheadParams<decltype(slow)>{std::move(both), std::move(slow)}, std::move(state)};
  }

 private:
  Optimizer fast_;
  std::int32_t period_;
  double step_size_;
};
// Fast steps, with slow params that follow them every sync_period steps. The params are lookahead_params(p).
// Throws ValueError unless sync_period is positive.
template <class Optimizer>
Lookahead<Optimizer> lookahead(Optimizer fast_optimizer, std::int32_t sync_period, double slow_step_size) {
  return {std::move(fast_optimizer), sync_period, slow_step_size};
}

template <class H, class Inner>
struct InjectHyperparamsState {
  H hyperparams;  // numbers that the program may change between steps
  Inner inner;
};
template <class H, class Inner>
InjectHyperparamsState(H, Inner) -> InjectHyperparamsState<H, Inner>;
// An optimiser made anew in each step from the numbers in its state.
template <class Make, class H>
class InjectHyperparams {
 public:
  InjectHyperparams(Make make, H hyperparams) : make_(std::move(make)), first_(std::move(hyperparams)) {}
  template <class P>
  auto init(const P& params) const {
    return InjectHyperparamsState{first_, make_(first_).init(params)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, InjectHyperparamsState<H, S> state, const P&... params) const {
    auto [updates, next] = make_(state.hyperparams).update(grads, std::move(state.inner), params...);
    state.inner = std::move(next);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  Make make_;
  H first_;
};
// inject_hyperparams([](const Rates& r) { return sgd(r.learning_rate); }, Rates{0.1}), Rates a struct of
// numbers: state.hyperparams.learning_rate = 0.05 then holds from the next step on.
template <class Make, class H>
InjectHyperparams<Make, H> inject_hyperparams(Make make, H hyperparams) {
  return {std::move(make), std::move(hyperparams)};
}

}  // namespace optim
NAX_END
