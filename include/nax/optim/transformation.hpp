#pragma once

#include <tuple>
#include <utility>

#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/optim/step.hpp"

// A gradient transformation, as in optax, is any class with
//   init(params)                   -> state, a tree
//   update(grads, state, params)   -> pair{updates, next state}
// and no data that changes; step(grads, state, params) -> pair{params, state}, if it can do better than
// step.hpp. Leaves that are not floating stay as they are: their updates are zero.
NAX_BEGIN
namespace optim {

// The square root of the sum of all squares of a tree, as a 0-d array. Throws ValueError for a tree without
// floating leaves.
template <class T>
Array<float> global_norm(const T& t) {
  using Float = typename detail::Later<T>::Float;
  std::optional<Float> total;
  tree::for_each(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (detail::trained_v<Leaf>) {
          const auto x = detail::as_type<nax::detail::lane_t<typename Leaf::value_type>>(leaf);
          const Float squares = detail::as_type<float>(sum(x * x));
          total = total ? Float(*total + squares) : squares;
        }
      },
      t);
  if (!total) throw ValueError("global_norm: the tree has no floating leaves");
  return detail::root_of_sum(*total);
}

// A transformation without memory has this for its state.
struct EmptyState {};
class Stateless {
 public:
  template <class P>
  EmptyState init(const P&) const {
    return {};
  }
};

// Gradients longer than max_norm, taken all together, are shortened to that length.
class ClipByGlobalNorm : public Stateless {
 public:
  explicit ClipByGlobalNorm(double max_norm) : max_norm_(max_norm) {}
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    const auto norm = global_norm(grads);
    const Array<float> factor = where(norm < max_norm_, 1.f, static_cast<float>(max_norm_) / norm);
    auto updates = detail::map(
        "clip_by_global_norm",
        [&]<class T>(const Array<T>& g) {
          return detail::as_type<T>(g * factor.template astype<detail::lane_t<T>>());
        },
        grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double max_norm_;
};
// Shortens gradients whose norm, over the whole tree, exceeds max_norm. `update` throws ValueError for a tree
// without floating leaves.
inline ClipByGlobalNorm clip_by_global_norm(double max_norm) { return ClipByGlobalNorm(max_norm); }

// Each element of the gradients is clipped to [-max_delta, max_delta].
class Clip : public Stateless {
 public:
  explicit Clip(double max_delta) : max_delta_(max_delta) {}
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    const double most = max_delta_;
    auto updates = detail::map(
        "clip", [most](const auto& g) { return minimum(maximum(g, -most), most); }, grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double max_delta_;
};
// Clips each element of the gradients to [-max_delta, max_delta].
inline Clip clip(double max_delta) { return Clip(max_delta); }

// Adds weight_decay * params.
class AddDecayedWeights : public Stateless {
 public:
  explicit AddDecayedWeights(double weight_decay) : weight_decay_(weight_decay) {}
  template <class G, class P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P& params) const {
    const double decay = weight_decay_;
    auto updates = detail::map(
        "add_decayed_weights", [decay](const auto& g, const auto& p) { return detail::mix(1, g, decay, p); },
        grads, params);
    return std::pair{std::move(updates), state};
  }

 private:
  double weight_decay_;
};
// Adds weight_decay times the parameters to updates. `update` throws ValueError where the trees of gradients
// and parameters differ.
inline AddDecayedWeights add_decayed_weights(double weight_decay = 0) {
  return AddDecayedWeights(weight_decay);
}

// One transformation after the other; the state is a tuple of theirs.
template <class... Each>
class Chain {
 public:
  explicit Chain(Each... each) : each_(std::move(each)...) {}

  template <class P>
  auto init(const P& params) const {
    return std::apply([&](const Each&... each) { return std::make_tuple(each.init(params)...); }, each_);
  }
  template <class G, class... S, class... P>
  [[nodiscard]] auto update(const G& grads, const std::tuple<S...>& state, const P&... params) const {
    static_assert(sizeof...(S) == sizeof...(Each), "chain: the state belongs to another chain");
    return update_from<0>(grads, state, std::tuple<>(), params...);
  }
  template <class G, class... S, class P>
  auto step(const G& grads, std::tuple<S...> state, P params) const {
    static_assert(sizeof...(S) == sizeof...(Each), "chain: the state belongs to another chain");
    return step_from<0>(grads, state, std::tuple<>(), std::move(params));
  }

 private:
  template <std::size_t i, class G, class S, class Done, class... P>
  auto update_from(const G& grads, const S& state, Done done, const P&... params) const {
    if constexpr (i == sizeof...(Each)) {
      return std::pair{grads, std::move(done)};
    } else {
      auto result = update_one(std::get<i>(each_), grads, std::get<i>(state), params...);
      return update_from<i + 1>(result.first, state,
                                std::tuple_cat(std::move(done), std::make_tuple(std::move(result.second))),
                                params...);
    }
  }
  // Passes a value behind the parameters to those that take it.
  template <class One, class G, class S, class... P>
  static auto update_one(const One& one, const G& grads, const S& state, const P&... params) {
    return one.update(grads, state, params...);
  }
  template <class One, class G, class S, class P, class V>
  static auto update_one(const One& one, const G& grads, const S& state, const P& params, const V& value) {
    if constexpr (requires { one.update(grads, state, params, value); })
      return one.update(grads, state, params, value);
    else
      return one.update(grads, state, params);
  }
  // All but the last update; the last steps.
  template <std::size_t i, class G, class S, class Done, class P>
  auto step_from(const G& grads, S& state, Done done, P params) const {
    const auto& transformation = std::get<i>(each_);
    auto& its_state = std::get<i>(state);
    const auto append = [&](auto next) {
      return std::tuple_cat(std::move(done), std::make_tuple(std::move(next)));
    };
    if constexpr (i + 1 == sizeof...(Each)) {
      auto result = optim::step(transformation, grads, std::move(its_state), std::move(params));
      return std::pair{std::move(result.first), append(std::move(result.second))};
    } else {
      auto result = transformation.update(grads, std::move(its_state), params);
      return step_from<i + 1>(result.first, state, append(std::move(result.second)), std::move(params));
    }
  }
  std::tuple<Each...> each_;
};
template <class... Each>
Chain<Each...> chain(Each... each) {
  return Chain<Each...>(std::move(each)...);
}

}  // namespace optim
NAX_END
