#pragma once

#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/optim/sgd.hpp"
#include "nax/optim/wrappers.hpp"
#include "nax/random/continuous.hpp"

// Gradients without NaN, without their mean, shortened by the size of their parameters or example by example.
NAX_BEGIN
namespace optim {

struct ZeroNansState {
  Array<bool> found_nan;  // whether the last gradients had one
};
class ZeroNans {
 public:
  template <class P>
  ZeroNansState init(const P&) const {
    return {Array<bool>(false)};
  }
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, ZeroNansState state, const P&...) const {
    state.found_nan = Array<bool>(false);
    auto updates = detail::map(
        "zero_nans",
        [&]<class T>(const Array<T>& g) {
          const Array<bool> bad = isnan(g);
          state.found_nan = state.found_nan | Array<bool>(any(bad));
          return Array<T>(where(bad, T(0), g));
        },
        grads);
    return std::pair{std::move(updates), std::move(state)};
  }
};
// Replaces NaNs by 0, and says in its state whether there were any.
inline ZeroNans zero_nans() { return {}; }

class Centralize : public Stateless {
 public:
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P&...) const {
    auto updates = detail::map(
        "centralize",
        []<class T>(const Array<T>& g) {
          if (g.ndim() < 2) return g;
          std::vector<int> others;
          for (int axis = 1; axis < g.ndim(); ++axis) others.push_back(axis);
          return Array<T>(g - mean(g, {.axis = Axis(others), .keepdims = true}));
        },
        grads);
    return std::pair{std::move(updates), state};
  }
};
// Subtracts from each slice of the first axis its mean, in leaves of two axes and more (Yong and others
// 2020).
inline Centralize centralize() { return {}; }

struct AdaptiveGradClipOptions {
  double eps = 1e-3;  // the least norm of parameters that counts
  Axis axis = none;   // of the norms; when not given all but the last, of two or three axes the first
};
class AdaptiveGradClip : public Stateless {
 public:
  AdaptiveGradClip(double clipping, const AdaptiveGradClipOptions& options)
      : clipping_(clipping), options_(options) {}
  template <class G, class P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P& params) const {
    auto updates = detail::map(
        "adaptive_grad_clip",
        [&]<class T>(const Array<T>& g, const Array<T>& p) {
          using L = detail::lane_t<T>;
          const auto wide = detail::as_type<L>(g);
          const Array<L> norm = unit_norm(wide),
                         most = clipping_ * maximum(unit_norm(detail::as_type<L>(p)), options_.eps);
          return detail::as_type<T>(where(norm < most, wide, wide * (most / maximum(norm, 1e-6))));
        },
        grads, params);
    return std::pair{std::move(updates), state};
  }

 private:
  // The norm of each unit's numbers, with their axes.
  template <class T>
  Array<T> unit_norm(const Array<T>& x) const {
    Axis axis = options_.axis;
    std::int64_t longer = 0;  // axes of more than one element
    for (const std::int64_t n : x.shape()) longer += n > 1;
    if (axis.all() && longer > 1) {
      std::vector<int> before;
      for (int i = 0; i + 1 < std::max(x.ndim() == 3 ? 2 : x.ndim(), 1); ++i) before.push_back(i);
      axis = Axis(before);
    }
    return sqrt(Array<T>(sum(x * x, {.axis = axis, .keepdims = true})));
  }
  double clipping_;
  AdaptiveGradClipOptions options_;
};
// Shortens the gradient of each unit whose norm exceeds `clipping` times that of its parameters (Brock and
// others 2021). `update` throws ValueError where the trees of gradients and parameters differ.
inline AdaptiveGradClip adaptive_grad_clip(double clipping, const AdaptiveGradClipOptions& options = {}) {
  return {clipping, options};
}

struct PrivateState {
  random::Key rng_key;
};
class DifferentiallyPrivateAggregate {
 public:
  DifferentiallyPrivateAggregate(double clip, double noise, random::Key key)
      : clip_(clip), noise_(noise), key_(std::move(key)) {}
  template <class P>
  PrivateState init(const P&) const {
    return {key_};
  }
  template <class G, class... P>
  [[nodiscard]] auto update(const G& grads, const PrivateState& state, const P&...) const {
    std::int64_t leaves = 0, examples = 0;
    using Real = nax::detail::where_used_t<Array<float>, G>;
    Real squares(0.f);
    tree::for_each(
        [&](const auto& g) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            if (g.ndim() < 1)
              throw ShapeError("differentially_private_aggregate: gradients must have an axis of examples");
            examples = g.shape(0), ++leaves;
            using L = detail::lane_t<typename std::remove_cvref_t<decltype(g)>::value_type>;
            const Array<L> rows = detail::as_type<L>(g).reshape({examples, -1});
            squares = squares + detail::as_type<float>(sum(rows * rows, {.axis = 1}));
          }
        },
        grads);
    const Real norm = sqrt(squares), least = static_cast<float>(clip_) / norm;
    const Real factor = where(norm == 0.f, 1.f, minimum(least, 1.f));
    const random::Key keys = random::split(state.rng_key, Shape{leaves + 1});
    std::int64_t at = 0;
    auto updates = detail::map(
        "differentially_private_aggregate",
        [&]<class T>(const Array<T>& g) {
          Shape shape = g.shape();
          using L = detail::lane_t<T>;
          const Array<L> rows = detail::as_type<L>(g).reshape({examples, -1});
          shape.erase(0);
          const Array<L> total = matmul(factor.template astype<L>(), rows).reshape(shape);
          const auto noise = detail::as_type<L>(random::normal<T>(keys[static_cast<int>(++at)], shape));
          return detail::as_type<T>((total + clip_ * noise_ * noise) / static_cast<double>(examples));
        },
        grads);
    return std::pair{std::move(updates), PrivateState{keys[0]}};
  }

 private:
  double clip_, noise_;
  random::Key key_;
};
// The mean of gradients that have a leading axis of examples, as vmap(grad(f)) gives them: each example's,
// over the whole tree, shortened to l2_norm_clip, and noise of noise_multiplier times that added to their
// sum. The first part of a chain. `update` throws ShapeError for gradients without that axis.
inline DifferentiallyPrivateAggregate differentially_private_aggregate(double l2_norm_clip,
                                                                       double noise_multiplier,
                                                                       const random::Key& key) {
  return {l2_norm_clip, noise_multiplier, key};
}

struct DpsgdOptions {
  std::optional<double> momentum = {};
  bool nesterov = false;
};
// Gradient descent with differential privacy (Abadi and others 2016): sgd of
// differentially_private_aggregate, whose gradients are those of vmap(grad(f)).
template <detail::Rate R>
auto dpsgd(R learning_rate, double l2_norm_clip, double noise_multiplier, const random::Key& key,
           const DpsgdOptions& options = {}) {
  return chain(differentially_private_aggregate(l2_norm_clip, noise_multiplier, key),
               sgd(std::move(learning_rate), {.momentum = options.momentum, .nesterov = options.nesterov}));
}

}  // namespace optim
NAX_END
