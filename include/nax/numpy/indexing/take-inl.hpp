#pragma once

#include "nax/numpy/indexing/take.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE loops::IndexMode index_mode(const char* function, std::string_view mode) {
  if (mode == "raise") return loops::IndexMode::drop;
  if (mode == "wrap") return loops::IndexMode::wrap;
  if (mode == "clip") return loops::IndexMode::clip;
  raise<ValueError>({function, ": mode must be 'raise', 'wrap' or 'clip', not '", mode, "'"});
}

NAX_ENGINE Selection along_selection(const Frame& x, const Array<std::int64_t>& positions, int axis) {
  Selection s = Selection::all(x);
  auto step = std::make_shared<GatherStep>();
  step->index = positions;
  step->axes.push_back(axis);
  for (int a = 0; a < x.ndim(); ++a)
    step->x_axis.push_back(a == axis ? -1 : a), step->index_axis.push_back(a);
  s.gather = std::move(step);
  return s;
}

NAX_ENGINE void along_shapes(const char* function, Dims& x, Dims& index, int axis) {
  bool fits = x.size() == index.size();
  const Dims x_before = x, index_before = index;
  for (std::size_t a = 0; fits && a < x.size(); ++a) {
    if (static_cast<int>(a) == axis) continue;
    fits = x[a] == index[a] || x[a] == 1 || index[a] == 1;
    x[a] = index[a] = x[a] == 1 ? index[a] : x[a];
  }
  if (!fits)
    raise<ShapeError>({function, ": the indices must have the array's shape but for axis ", axis, ": ",
                       index_before, " against ", x_before});
}

}  // namespace detail
NAX_END
