#pragma once

#include <algorithm>

#include "nax/lax/dynamic_slice.hpp"
#include "nax/numpy/indexing/index_items.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Selection window_selection(const char* function, const ArrayBase& x,
                                      const std::vector<Array<std::int64_t>>& starts, const Dims& sizes) {
  check_operand(function, x);
  const std::size_t ndim = static_cast<std::size_t>(x.ndim());
  if (starts.size() != ndim || sizes.size() != ndim)
    raise<ValueError>({function, ": needs one start and one size for each axis, got ", starts.size(), " and ",
                       sizes.size(), " for shape ", x.shape()});
  Selection s = Selection::all(layout_of(x));
  auto step = std::make_shared<GatherStep>();
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    const std::int64_t extent = s.count[axis], size = sizes[axis];
    if (size < 0 || size > extent)
      raise<ShapeError>({function, ": a slice of shape ", sizes, " does not fit into shape ", x.shape()});
    step->x_axis.push_back(static_cast<std::int64_t>(axis)), step->index_axis.push_back(-1);
    const Array<std::int64_t>& start = starts[axis];
    if (size == extent) continue;
    // A start that the host knows makes a view.
    if (!is_batched(start) && (is_readable(start) || !(graph_recording || on_accelerator(x)))) {
      const std::int64_t at = start.item();
      s.start[axis] = std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent - size);
      s.count[axis] = size;
      continue;
    }
    const Array<std::int64_t> at =
        wrapped_index(function, start, static_cast<int>(axis), extent, loops::IndexMode::slide, size);
    step->index =
        step->axes.empty()
            ? at
            : typed<std::int64_t>(joined_positions(
                  step->index, at, extent, merge_frames({&layout_of(step->index), &layout_of(at)}, Dims())));
    step->axes.push_back(static_cast<std::int64_t>(axis));
    step->window.push_back(size);
  }
  if (step->axes.empty()) return s;
  step->index = typed<std::int64_t>(beside(x, step->index));
  s.gather = std::move(step);
  return s;
}

}  // namespace detail
NAX_END
