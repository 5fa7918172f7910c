#pragma once

#include <tuple>
#include <utility>

#include "nax/numpy/arithmetic.hpp"
#include "nax/numpy/cast.hpp"
#include "nax/numpy/creation.hpp"
#include "nax/numpy/extrema.hpp"
#include "nax/numpy/logic.hpp"
#include "nax/numpy/power.hpp"
#include "nax/numpy/sum.hpp"
#include "nax/optim/schedules.hpp"
#include "nax/tree/tree.hpp"

// A gradient transformation, as in optax, is any class with
//   init(params)                   -> state, a tree
//   update(grads, state, params)   -> pair{updates, next state}
// and no data that changes. Leaves that are not floating stay as they are: their updates are zero.
namespace nax::optim {
namespace detail {

using namespace nax::detail;

template <class Leaf>
inline constexpr bool trained_v = false;
template <class T>
inline constexpr bool trained_v<Array<T>> = is_inexact_v<T>;

// tree::map for the leaves that are trained, zero in place of the others.
template <class F, class T, class... R>
auto map(const char* function, const F& f, const T& t, const R&... rest) {
  return tree::detail::map(
      function,
      [&f](const auto& leaf, const auto&... others) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (trained_v<Leaf>)
          return Leaf(f(leaf, others...));
        else if constexpr (is_array_v<Leaf>)
          return zeros_like(leaf);
        else
          return Leaf(0);
      },
      t, rest...);
}

template <class P>
auto filled(const P& params, double value) {
  return map(
      "init", [value](const auto& p) { return full_like(p, value); }, params);
}
template <class P>
using Like = decltype(filled(std::declval<const P&>(), 0.0));

// a x + b y and a x^2 + b y: most of what optimisers do, compiled once for all of them.
// (A y that is given away is written over.)
template <class T>
Array<T> mix(double a, const Array<T>& x, double b, Array<T> y) {
  y = a * x + b * y;
  return y;
}
template <class T>
Array<T> mix_square(double a, const Array<T>& x, double b, const Array<T>& y) {
  return a * (x * x) + b * y;
}

// A step against the gradient: x times the negative rate.
template <class T>
Array<T> descend(const Array<T>& x, double rate) {
  return x * -rate;
}
template <class T>
Array<T> descend(const Array<T>& x, const Array<float>& rate) {
  return x * -rate.astype<T>();
}

inline Count no_steps() { return Count(0); }
template <class T>
Array<T> next(const Array<T>& count) {
  return count + 1;
}

}  // namespace detail

// params + updates; leaves that are not floating are passed on. Throws ValueError where the trees differ.
template <class P, class U>
auto apply_updates(const P& params, const U& updates) {
  return tree::detail::map(
      "apply_updates",
      [](const auto& p, const auto& u) {
        using Leaf = std::remove_cvref_t<decltype(p)>;
        if constexpr (detail::trained_v<Leaf>)
          return Leaf((p + u).template astype<typename Leaf::value_type>());
        else
          return p;
      },
      params, updates);
}

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
          const Float squares = Array<typename Leaf::value_type>(sum(leaf * leaf)).template astype<float>();
          total = total ? Float(*total + squares) : squares;
        }
      },
      t);
  if (!total) throw ValueError("global_norm: the tree has no floating leaves");
  return sqrt(*total);
}

// A transformation without memory has this for its state.
struct EmptyState {};

// Gradients longer than max_norm, taken all together, are shortened to that length.
class ClipByGlobalNorm {
 public:
  explicit ClipByGlobalNorm(double max_norm) : max_norm_(max_norm) {}
  template <class P>
  EmptyState init(const P&) const {
    return {};
  }
  template <class G, class... P>
  auto update(const G& grads, const EmptyState& state, const P&...) const {
    const auto norm = global_norm(grads);
    const Array<float> factor = where(norm < max_norm_, 1.f, static_cast<float>(max_norm_) / norm);
    auto updates = detail::map(
        "clip_by_global_norm",
        [&](const auto& g) {
          return g * factor.astype<typename std::remove_cvref_t<decltype(g)>::value_type>();
        },
        grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double max_norm_;
};
inline ClipByGlobalNorm clip_by_global_norm(double max_norm) { return ClipByGlobalNorm(max_norm); }

// Each element of the gradients is clipped to [-max_delta, max_delta].
class Clip {
 public:
  explicit Clip(double max_delta) : max_delta_(max_delta) {}
  template <class P>
  EmptyState init(const P&) const {
    return {};
  }
  template <class G, class... P>
  auto update(const G& grads, const EmptyState& state, const P&...) const {
    const double most = max_delta_;
    auto updates = detail::map(
        "clip", [most](const auto& g) { return minimum(maximum(g, -most), most); }, grads);
    return std::pair{std::move(updates), state};
  }

 private:
  double max_delta_;
};
inline Clip clip(double max_delta) { return Clip(max_delta); }

// Adds weight_decay * params.
class AddDecayedWeights {
 public:
  explicit AddDecayedWeights(double weight_decay) : weight_decay_(weight_decay) {}
  template <class P>
  EmptyState init(const P&) const {
    return {};
  }
  template <class G, class P>
  auto update(const G& grads, const EmptyState& state, const P& params) const {
    const double decay = weight_decay_;
    auto updates = detail::map(
        "add_decayed_weights", [decay](const auto& g, const auto& p) { return detail::mix(1, g, decay, p); },
        grads, params);
    return std::pair{std::move(updates), state};
  }

 private:
  double weight_decay_;
};
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
    return std::apply([&](const Each&... each) { return std::tuple{each.init(params)...}; }, each_);
  }
  template <class G, class... S, class... P>
  auto update(const G& grads, const std::tuple<S...>& state, const P&... params) const {
    static_assert(sizeof...(S) == sizeof...(Each), "chain: the state belongs to another chain");
    return step<0>(grads, state, std::tuple<>(), params...);
  }

 private:
  template <std::size_t i, class G, class S, class Done, class... P>
  auto step(const G& grads, const S& state, Done done, const P&... params) const {
    if constexpr (i == sizeof...(Each)) {
      return std::pair{grads, std::move(done)};
    } else {
      auto result = std::get<i>(each_).update(grads, std::get<i>(state), params...);
      return step<i + 1>(result.first, state,
                         std::tuple_cat(std::move(done), std::tuple{std::move(result.second)}), params...);
    }
  }
  std::tuple<Each...> each_;
};
template <class... Each>
Chain<Each...> chain(Each... each) {
  return Chain<Each...>(std::move(each)...);
}

}  // namespace nax::optim
