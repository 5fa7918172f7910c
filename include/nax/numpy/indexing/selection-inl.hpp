#pragma once

#include "nax/numpy/indexing/selection.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t Selection::view(const Layout& x, Layout& out) const {
  out = hidden_part(x);
  std::int64_t offset = 0;
  const std::size_t hidden = x.levels.size();
  for (std::size_t axis = 0; axis < start.size(); ++axis) offset += start[axis] * x.strides[hidden + axis];
  for (std::int64_t axis : kept) {
    if (axis < 0)
      append_axis(out, 1, 0);
    else
      append_axis(out, count[static_cast<std::size_t>(axis)],
                  x.strides[hidden + static_cast<std::size_t>(axis)] * step[static_cast<std::size_t>(axis)]);
  }
  // A view without elements may begin behind the buffer's end.
  for (std::int64_t axis : kept)
    if (axis >= 0 && count[static_cast<std::size_t>(axis)] == 0) offset = 0;
  return offset;
}

NAX_ENGINE Dims Selection::result_shape() const {
  Dims shape;
  if (!gather) {
    for (std::size_t axis = 0; axis < kept.size(); ++axis)
      shape.push_back(view_extent(static_cast<std::int64_t>(axis)));
  } else {
    for (std::size_t axis = 0; axis < gather->x_axis.size(); ++axis)
      shape.push_back(gather->x_axis[axis] >= 0
                          ? view_extent(gather->x_axis[axis])
                          : layout_of(gather->index).visible(static_cast<int>(gather->index_axis[axis])));
    for (std::size_t k = 0; k < gather->window.size(); ++k)
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (gather->x_axis[axis] == gather->axes[k]) shape[axis] = gather->window[k];
  }
  return shape;
}

NAX_ENGINE Frame merge_frames(std::initializer_list<const Frame*> hidden, const Dims& visible) {
  Frame frame;
  for (const Frame* other : hidden) frame.levels = merge_levels(frame.levels, other->levels);
  for (Level level : frame.levels)
    for (const Frame* other : hidden)
      if (const int h = other->find(level); h >= 0) {
        frame.shape.push_back(other->shape[static_cast<std::size_t>(h)]);
        break;
      }
  frame.shape.append(visible.begin(), visible.end());
  return frame;
}

NAX_ENGINE Array<std::int64_t> offsets_of(const Array<std::int64_t>& index, const Dims& extents,
                                          const Dims& strides) {
  const ArrayBase flat = contiguous(index);
  Array<std::int64_t> out = typed<std::int64_t>(allocate(DType::int64, layout_of(index), index.device()));
  backend::run(out.device(), ops::IndexOffsets{layout_of(out).size(), extents, strides},
               {device_data(flat), device_data(out)});
  return out;
}

NAX_ENGINE loops::SelectLoop select_loop(const Selection& s, const ArrayBase& data, const ArrayBase& values,
                                         Array<std::int64_t>& hold) {
  Layout view_layout;
  const std::int64_t offset = s.view(layout_of(data), view_layout);
  const Layout& d = view_layout;
  const DType dtype = data.dtype();
  loops::SelectLoop loop;
  const Frame* index_frame =
      s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(data);
  const Frame frame = merge_frames({&layout_of(data), &layout_of(values), index_frame}, s.result_shape());
  loop.shape = frame.shape;
  loop.values() = {device_data(values), strides_over(layout_of(values), frame), values.dtype(),
                   values.dtype()};
  char* first = device_data(data);
  if (first) first += offset * static_cast<std::int64_t>(dtype_size(dtype));
  if (!s.gather) {
    alignas(8) static const std::int64_t zero = 0;
    loop.data() = {first, strides_over(d, frame), dtype, dtype};
    char* const index =
        on_accelerator(data) ? nullptr : reinterpret_cast<char*>(const_cast<std::int64_t*>(&zero));
    loop.indices() = {index, Dims(frame.shape.size(), 0), DType::int64, DType::int64};
    return loop;
  }
  const GatherStep& g = *s.gather;
  // One stride serves all indexed axes where the data walks them as one. A window ends within its axis.
  Dims extents, &named = loop.extents, &strides = loop.strides;
  for (std::size_t k = 0; k < g.axes.size(); ++k) {
    const int axis = static_cast<int>(g.axes[k]);
    const std::int64_t extent = d.visible(axis), stride = visible_stride(d, axis),
                       starts = g.window.empty() ? extent : extent - g.window[k] + 1;
    if (extent == 1) continue;
    if (!extents.empty() && starts == extent && strides[strides.size() - 1] == stride * extent) {
      extents[extents.size() - 1] *= extent;
      named[named.size() - 1] *= extent;
      strides[strides.size() - 1] = stride;
    } else {
      extents.push_back(extent);
      named.push_back(starts);
      strides.push_back(stride);
    }
  }
  hold = g.index;
  loop.scale = extents.empty() ? 0 : strides[0];
  if (extents.size() > 1) {
    hold = offsets_of(g.index, extents, strides);
    loop.scale = 1;
  }
  Dims data_strides(frame.shape.size(), 0), index_strides(frame.shape.size(), 0);
  const Layout& i = layout_of(hold);
  for (int h = 0; h < frame.hidden(); ++h) {
    if (const int at = d.find(frame.levels[h]); at >= 0) data_strides[h] = d.strides[at];
    if (const int at = i.find(frame.levels[h]); at >= 0) index_strides[h] = i.strides[at];
  }
  for (std::size_t axis = 0; axis < g.x_axis.size(); ++axis) {
    const std::size_t at = frame.levels.size() + axis;
    if (g.x_axis[axis] >= 0) data_strides[at] = visible_stride(d, static_cast<int>(g.x_axis[axis]));
    if (g.index_axis[axis] >= 0) index_strides[at] = visible_stride(i, static_cast<int>(g.index_axis[axis]));
  }
  loop.data() = {first, data_strides, dtype, dtype};
  loop.indices() = {device_data(hold), index_strides, DType::int64, DType::int64};
  return loop;
}

}  // namespace detail
NAX_END
