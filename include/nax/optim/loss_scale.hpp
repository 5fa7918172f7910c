#pragma once

#include "nax/core/where_used.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/reduce.hpp"

// Loss scaling, as in jmp: small gradients of half precision would vanish, so the loss is multiplied by a
// scale and the gradients are divided by it.
NAX_BEGIN
namespace detail {

// The inverse of a scale; the compiler learns its type where it is used.
template <class Tree>
Array<float> inverse_scale(const Array<float>& scale) {
  return 1.f / static_cast<const where_used_t<Array<float>, Tree>&>(scale);
}

// The leaves of floating type times a number; computed in float.
template <class Tree>
auto scaled_tree(const Tree& t, const Array<float>& by) {
  return tree::map(
      [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (!is_array_v<Leaf>) {
          return leaf;
        } else {
          using T = typename Leaf::value_type;
          if constexpr (!is_inexact_v<T>)
            return leaf;
          else if constexpr (sizeof(T) == 2)
            return Leaf((leaf.template astype<float>() * by).template astype<T>());
          else
            return Leaf(leaf * by.template astype<T>());
        }
      },
      t);
}

// The dynamic scale that follows `now`.
template <class Scale>
Scale adjusted(const Scale& now, const Array<bool>& finite) {
  Scale next = now;
  using Bools = where_used_t<Array<bool>, Scale>;
  using Real = where_used_t<Array<float>, Scale>;
  const Bools full = now.good_steps >= now.period - 1;
  const Real grown = now.loss_scale * now.factor;
  const Real shrunk = maximum(now.loss_scale / now.factor, now.least);
  const auto kept = where(logical_and(full, isfinite(grown)), grown, now.loss_scale);
  next.loss_scale = where(static_cast<const Bools&>(finite), kept, shrunk);
  next.good_steps =
      where(logical_or(logical_not(static_cast<const Bools&>(finite)), full), 0, now.good_steps + 1);
  return next;
}

}  // namespace detail

namespace optim {

// Whether no leaf holds a NaN or an infinity.
template <class Tree>
Array<bool> all_finite(const Tree& t) {
  Array<bool> finite = true;
  tree::for_each(
      [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (is_array_v<Leaf>)
          if constexpr (is_inexact_v<typename Leaf::value_type>)
            finite = logical_and(finite, all(isfinite(leaf)));
      },
      t);
  return finite;
}

// Leaf by leaf `yes` where the condition holds, else `no`: a step that is taken or left.
template <class Tree>
Tree select_tree(const Array<bool>& condition, const Tree& yes, const Tree& no) {
  return tree::map(
      [&]<class Leaf>(const Leaf& a, const Leaf& b) {
        if constexpr (is_array_v<Leaf>)
          return Leaf(where(condition, a, b));
        else
          return a;
      },
      yes, no);
}

// A constant scale.
struct StaticLossScale {
  Array<float> loss_scale = 32768.f;

  template <class Tree>
  auto scale(const Tree& t) const {
    return nax::detail::scaled_tree(t, loss_scale);
  }
  template <class Tree>
  auto unscale(const Tree& t) const {
    return nax::detail::scaled_tree(t, nax::detail::inverse_scale<Tree>(loss_scale));
  }
  StaticLossScale adjust(const Array<bool>&) const { return *this; }
};

// A scale that is divided by `factor` after a step whose gradients were not finite, down to `least`, and
// multiplied by it after `period` good steps. adjust(all_finite(gradients)) returns the next one; the step
// itself is left out by select_tree.
struct DynamicLossScale {
  Array<float> loss_scale = 32768.f;
  Array<std::int32_t> good_steps = 0;  // since it changed
  std::int32_t period = 2000;
  float factor = 2, least = 1;

  template <class Tree>
  auto scale(const Tree& t) const {
    return nax::detail::scaled_tree(t, loss_scale);
  }
  template <class Tree>
  auto unscale(const Tree& t) const {
    return nax::detail::scaled_tree(t, nax::detail::inverse_scale<Tree>(loss_scale));
  }
  // B is Array<bool>. The compiler learns so where this is called, and until then compiles no arithmetic.
  template <class B = Array<bool>>
  DynamicLossScale adjust(const B& finite) const {
    return nax::detail::adjusted<DynamicLossScale>(*this, Array<bool>(finite));
  }
};

struct LossScaleOptions {
  float initial = 32768;
  std::int32_t period = 2000;
  float factor = 2, least = 1;
};
// A DynamicLossScale that begins at `initial`. Throws ValueError for a period below 1, a factor of 1 or
// less, or a scale that is not positive.
inline DynamicLossScale dynamic_loss_scale(const LossScaleOptions& options = {}) {
  if (options.period < 1 || !(options.factor > 1) || !(options.initial > 0) || !(options.least > 0))
    raise<ValueError>({"dynamic_loss_scale: period must be at least 1, factor above 1 and scales positive: ",
                       options.period, ", ", options.factor, ", ", options.initial, ", ", options.least});
  return {options.initial, 0, options.period, options.factor, options.least};
}

}  // namespace optim
NAX_END
