#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/optim/scaling.hpp"

// Adafactor: Adam's average of squares kept as one row and one column of each large matrix.
NAX_BEGIN
namespace optim {

template <class P>
struct FactoredState {
  Count count;
  // Leaves whose two largest axes have at least min_dim_size_to_factor places have v_row and v_col, the
  // averages over the largest and the second largest axis, and an empty v; the others have v alone.
  P v_row, v_col, v;
};

struct FactoredRmsOptions {
  bool factored = true;
  double decay_rate = 0.8;
  std::int64_t step_offset = 0, min_dim_size_to_factor = 128;
  double epsilon = 1e-30;
};

namespace detail {

// The second largest and the largest axis, of equal ones the earlier first; none where v is kept whole.
NAX_ENGINE std::optional<std::array<int, 2>> factored_axes(const Shape& shape, const FactoredRmsOptions& o);

// A part of a chain that passes updates on where `on` is false.
template <class Part>
struct OnlyIf : public Stateless {
  bool on;
  Part part;
  OnlyIf(bool on_, Part part_) : on(on_), part(std::move(part_)) {}
  template <class G, class P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P& params) const {
    if (on) return part.update(grads, state, params);
    return std::pair{detail::map(
                         "chain", [](const auto& g) { return g; }, grads),
                     state};
  }
};

}  // namespace detail

class ScaleByFactoredRms {
 public:
  explicit ScaleByFactoredRms(const FactoredRmsOptions& options) : options_(options) {}

  template <class P>
  FactoredState<detail::Like<P>> init(const P& params) const {
    const auto zeros_of = [&](int part) {
      return detail::map(
          "scale_by_factored_rms",
          [&]<class T>(const Array<T>& p) {
            const auto axes = detail::factored_axes(p.shape(), options_);
            if (part == 2) return axes ? nax::zeros<T>({0}) : zeros_like(p);
            if (!axes) return nax::zeros<T>({0});
            Shape shape = p.shape();
            shape.erase(static_cast<std::size_t>((*axes)[part == 0 ? 1 : 0]));
            return nax::zeros<T>(shape);
          },
          params);
    };
    return {detail::no_steps(), zeros_of(0), zeros_of(1), zeros_of(2)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, FactoredState<S> state, const P&...) const {
    detail::Like<G> updates = detail::blank("scale_by_factored_rms", grads);
    tree::detail::for_each(
        "scale_by_factored_rms",
        [&](const auto& g, auto& row, auto& column, auto& v, auto& u) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>)
            advance(g, row, column, v, u, state.count);
        },
        grads, state.v_row, state.v_col, state.v, updates);
    state.count = detail::next(state.count);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  template <class T>
  void advance(const Array<T>& g, Array<T>& row, Array<T>& column, Array<T>& v, Array<T>& u,
               const Count& count) const {
    using C = nax::detail::lane_t<T>;
    const Array<C> steps = (count + static_cast<std::int32_t>(1 - options_.step_offset)).template astype<C>();
    const Array<C> new_part = power(steps, static_cast<C>(-options_.decay_rate));
    const auto kept = Array<C>(1 - new_part), wide = detail::as_type<C>(g);
    const Array<C> squares = wide * wide + options_.epsilon;
    const auto axes = detail::factored_axes(g.shape(), options_);
    // The next average, which is rounded where it is kept.
    const auto next = [&](Array<T>& average, const Array<C>& fresh) {
      const Array<C> now = kept * detail::as_type<C>(average) + new_part * fresh;
      average = detail::as_type<T>(now);
      return now;
    };
    if (!axes) {
      u = detail::as_type<T>(wide / sqrt(next(v, squares)));
      return;
    }
    const auto [second, first] = *axes;
    const Array<C> of_row = next(row, mean(squares, {.axis = first})),
                   of_column = next(column, mean(squares, {.axis = second}));
    const int in_row = second > first ? second - 1 : second;
    const Array<C> relative = of_row / Array<C>(mean(of_row, {.axis = in_row, .keepdims = true}));
    u = detail::as_type<T>(wide / sqrt(Array<C>(expand_dims(relative, first))) /
                           sqrt(Array<C>(expand_dims(of_column, second))));
  }
  FactoredRmsOptions options_;
};
// Divides updates by the root of the average of their squares, kept as a row and a column of large matrices.
// `update` throws ValueError where the trees of gradients and state differ.
inline ScaleByFactoredRms scale_by_factored_rms(const FactoredRmsOptions& options = {}) {
  return ScaleByFactoredRms(options);
}

class ScaleByParamBlockRms : public Stateless {
 public:
  explicit ScaleByParamBlockRms(double min_scale) : min_scale_(min_scale) {}
  template <class G, class P>
  [[nodiscard]] auto update(const G& grads, const EmptyState& state, const P& params) const {
    const double least = min_scale_;
    auto updates = detail::map(
        "scale_by_param_block_rms",
        [least]<class T>(const Array<T>& g, const Array<T>& p) {
          return detail::as_type<T>(g * maximum(detail::leaf_rms(p), least));
        },
        grads, params);
    return std::pair{std::move(updates), state};
  }

 private:
  double min_scale_;
};
// Multiplies each leaf's update by the root mean square of its parameters, min_scale at least. `update`
// throws ValueError where the trees of updates and parameters differ.
inline ScaleByParamBlockRms scale_by_param_block_rms(double min_scale = 1e-3) {
  return ScaleByParamBlockRms(min_scale);
}

struct AdafactorOptions {
  std::int64_t min_dim_size_to_factor = 128;
  double decay_rate = 0.8;
  std::int64_t decay_offset = 0;
  bool multiply_by_parameter_scale = true;
  double clipping_threshold = 1;  // infinity: no clipping
  double eps = 1e-30;
  bool factored = true;
};
// Adafactor: memory for n + m numbers in place of n m for the squares of an n x m matrix.
template <detail::Rate R>
auto adafactor(R learning_rate, const AdafactorOptions& o = {}) {
  return chain(scale_by_factored_rms({.factored = o.factored,
                                      .decay_rate = o.decay_rate,
                                      .step_offset = o.decay_offset,
                                      .min_dim_size_to_factor = o.min_dim_size_to_factor,
                                      .epsilon = o.eps}),
               clip_by_block_rms(o.clipping_threshold), scale_by_learning_rate(std::move(learning_rate)),
               detail::OnlyIf(o.multiply_by_parameter_scale, scale_by_param_block_rms()));
}

}  // namespace optim
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace optim::detail {

NAX_ENGINE std::optional<std::array<int, 2>> factored_axes(const Shape& shape, const FactoredRmsOptions& o) {
  const int n = static_cast<int>(shape.size());
  if (!o.factored || n < 2) return std::nullopt;
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return shape[static_cast<std::size_t>(a)] < shape[static_cast<std::size_t>(b)];
  });
  const int second = order[static_cast<std::size_t>(n - 2)], first = order[static_cast<std::size_t>(n - 1)];
  if (shape[static_cast<std::size_t>(second)] < o.min_dim_size_to_factor) return std::nullopt;
  return std::array{second, first};
}

}  // namespace optim::detail
NAX_END
#endif
