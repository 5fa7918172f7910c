#pragma once

#include "nax/nn/layer_norm_rows.hpp"

NAX_BEGIN
namespace nn {
struct StandardizeOptions {
  Axis axis = -1;
  double epsilon = 1e-5;  // PyTorch's; Flax has 1e-6
};

// (x - mean) / sqrt(variance + epsilon) along the axes. The result has the shape of x. Throws IndexError if
// an axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X>
auto standardize(const X& x_, const StandardizeOptions& options = {}) {
  const auto x = detail::as_type<inexact_t<typename X::value_type>>(x_);
  detail::check_reducible("standardize", x);
  return detail::standardize_over(x, detail::marked_axes("standardize", options.axis, x.ndim()),
                                  options.epsilon);
}

// standardize, then a scale and a shift that are learned. The result has the shape of x. Throws IndexError if
// an axis is out of bounds, and ValueError if one repeats.
template <detail::ArrayLike X, detail::ArrayLike S, detail::ArrayLike B>
auto layer_norm(const X& x_, const S& scale, const B& bias, const StandardizeOptions& options = {}) {
  const auto x = detail::as_type<inexact_t<typename X::value_type>>(x_);
  using T = typename decltype(x)::value_type;
  using Result = Array<typename decltype(standardize(x, options) * scale + bias)::value_type>;
  if constexpr (std::is_same_v<S, Array<T>> && std::is_same_v<B, Array<T>> && detail::may_have_rows<T>) {
    const AxisMarks visible = detail::marked_axes("layer_norm", options.axis, x.ndim());
    const std::int64_t n = detail::RowCount(detail::layout_of(x), visible).length;
    if (detail::standardizes_rows(x, visible) && detail::is_plain_row(scale, n, visible) &&
        detail::is_plain_row(bias, n, visible)) {
      detail::check_reducible("layer_norm", x);
      return Result(detail::layer_norm_rows(x, scale, bias, visible, options.epsilon));
    }
  }
  if constexpr (!std::is_same_v<detail::lane_t<T>, T>)
    return detail::in_lanes<typename Result::value_type>(
        [&](const auto& wide, const auto& by, const auto& plus) {
          return layer_norm(wide, by, plus, options);
        },
        x, detail::as_array(scale), detail::as_array(bias));
  else
    return Result(standardize(x, options) * scale + bias);
}

}  // namespace nn
NAX_END
