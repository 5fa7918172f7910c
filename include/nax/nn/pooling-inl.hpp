#pragma once

#include "nax/nn/pooling.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE WindowSpec pool_spec(const char* function, const Shape& x, const Shape& window,
                                const Shape& strides, const lax::Padding& padding) {
  const std::size_t spatial = window.size();
  if (spatial == 0 || x.size() < spatial + 1)
    raise<ShapeError>({function, ": an input of shape ", x, " has no window ", window,
                       " before its last axis, the channels"});
  const std::size_t batch = x.size() - spatial - 1;
  const Dims steps = each_axis(function, "strides", strides, spatial);
  each_axis(function, "window_shape", window, spatial);
  Dims in;
  for (std::size_t axis = 0; axis < spatial; ++axis) in.push_back(x[batch + axis]);
  const auto inner = padding.over(function, in, window, steps);
  Dims all_window(batch, 1), all_steps(batch, 1);
  std::vector<lax::Padding::Pair> pads(batch, {0, 0});
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    all_window.push_back(window[axis]);
    all_steps.push_back(steps[axis]);
    pads.push_back(inner[axis]);
  }
  all_window.push_back(1);  // the channels
  all_steps.push_back(1);
  pads.push_back({0, 0});
  return window_spec(function, x, all_window, all_steps, pads, {}, {});
}

}  // namespace detail
NAX_END
