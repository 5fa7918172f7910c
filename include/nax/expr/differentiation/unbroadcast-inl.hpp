#pragma once

#include "nax/expr/differentiation/primitive.hpp"
#include "nax/expr/differentiation/unbroadcast.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase sum_levels(ArrayBase x, const Levels& made, const Levels& kept) {
  const Levels& levels = layout_of(x).levels;
  AxisMarks summed(layout_of(x).shape.size(), false);
  bool any = false;
  for (std::size_t h = 0; h < levels.size(); ++h)
    if (contains(made, levels[h]) && !contains(kept, levels[h])) summed[h] = any = true;
  if (!any) return x;
  return sum_axes(x, summed, false);
}

NAX_ENGINE ArrayBase sum_to(const ArrayBase& g, const Frame& value, const Frame& result) {
  const Frame target = gradient_frame(value, result, layout_of(g));
  if (layout_of(g) == target) return g;
  const AxisMarks summed = axes_to_sum(layout_of(g), value, target);
  // Extents of 1 that the value has not go by a view.
  return restride(summed.empty() ? g : sum_axes(g, summed, true), target);
}

NAX_ENGINE Frame gradient_frame(const Frame& value, const Frame& result, const Frame& cotangent) {
  Frame frame = value;
  for (int h = 0; h < cotangent.hidden(); ++h) {
    const Level level = cotangent.levels[h];
    if (contains(result.levels, level)) continue;
    std::size_t at = 0;
    while (at < frame.levels.size() && frame.levels[at] < level) ++at;
    frame.levels.insert(at, level);
    frame.shape.insert(at, cotangent.shape[h]);
  }
  return frame;
}

NAX_ENGINE AxisMarks axes_to_sum(const Layout& cotangent, const Frame& value, const Frame& target) {
  AxisMarks summed(cotangent.shape.size(), false);
  bool any = false;
  for (int h = 0; h < cotangent.hidden(); ++h)
    if (target.find(cotangent.levels[h]) < 0) any = summed[h] = true;
  const int extra = cotangent.ndim() - value.ndim();
  for (int axis = 0; axis < cotangent.ndim(); ++axis)
    if (axis < extra || (value.visible(axis - extra) == 1 && cotangent.visible(axis) != 1))
      any = summed[cotangent.hidden() + axis] = true;
  if (!any) summed.clear();
  return summed;
}

}  // namespace detail
NAX_END
