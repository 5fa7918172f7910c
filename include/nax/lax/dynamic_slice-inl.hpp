#pragma once

#include "nax/lax/dynamic_slice.hpp"

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
  bool batched = false;
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    const std::int64_t extent = layout_of(x).visible(static_cast<int>(axis));
    if (sizes[axis] < 0 || sizes[axis] > extent)
      raise<ShapeError>({function, ": a slice of shape ", sizes, " does not fit into shape ", x.shape()});
    s.count[axis] = sizes[axis];
    batched = batched || is_batched(starts[axis]);
  }
  const auto fit = [&](std::size_t axis, std::int64_t at) {
    const std::int64_t extent = layout_of(x).visible(static_cast<int>(axis));
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent - sizes[axis]);
  };
  if (!batched) {
    for (std::size_t axis = 0; axis < ndim; ++axis) s.start[axis] = fit(axis, starts[axis].item());
    return s;
  }
  // One gather over all axes: positions in row-major order, for each example its own.
  Frame frame;
  for (const Array<std::int64_t>& start : starts) frame = merge_frames({&frame, &layout_of(start)}, Dims());
  const std::size_t hidden = frame.levels.size();
  frame.shape.append(sizes.begin(), sizes.end());
  auto step = std::make_shared<GatherStep>();
  step->index = typed<std::int64_t>(allocate_on_host(DType::int64, frame));
  std::vector<ArrayBase> values;
  std::vector<Dims> strides;
  for (const Array<std::int64_t>& start : starts) {
    values.push_back(on_host(constant(start)));
    strides.push_back(strides_over(
        layout_of(values.back()),
        Frame{Dims(frame.shape.begin(), frame.shape.begin() + static_cast<std::ptrdiff_t>(hidden)),
              frame.levels}));
  }
  std::int64_t* to = elements<std::int64_t>(step->index);
  std::int64_t window = 1, examples = 1;
  for (const std::int64_t size : sizes) window *= size;
  for (std::size_t h = 0; h < hidden; ++h) examples *= frame.shape[h];
  for (std::int64_t example = 0; example < examples; ++example) {
    Dims begin;
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      std::int64_t rest = example, offset = 0;
      for (std::size_t h = hidden; h-- > 0; rest /= frame.shape[h])
        offset += rest % frame.shape[h] * strides[axis][h];
      begin.push_back(fit(axis, elements<const std::int64_t>(values[axis], transforms_handled)[offset]));
    }
    for (std::int64_t i = 0; i < window; ++i) {
      std::int64_t rest = i, position = 0, stride = 1;
      for (std::size_t axis = ndim; axis-- > 0; rest /= sizes[axis]) {
        position += (begin[axis] + rest % sizes[axis]) * stride;
        stride *= layout_of(x).visible(static_cast<int>(axis));
      }
      *to++ = position;
    }
  }
  step->index = typed<std::int64_t>(beside(x, step->index));
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    s.count[axis] = layout_of(x).visible(static_cast<int>(axis));
    step->axes.push_back(static_cast<std::int64_t>(axis));
    step->x_axis.push_back(-1);
    step->index_axis.push_back(static_cast<std::int64_t>(axis));
  }
  s.gather = std::move(step);
  return s;
}

}  // namespace detail
NAX_END
