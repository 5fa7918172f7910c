#pragma once

#include "nax/numpy/indexing/select.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase handle_without_elements(const ArrayBase& x) {
  ArrayBase handle = x;
  ArrayAccess::buffer(handle) = BufferRef();
  return handle;
}

NAX_ENGINE std::int64_t rounds_of(const Selection& s, std::vector<std::int64_t>& rounds) {
  const ArrayBase index = contiguous(s.gather->index);
  const Layout& layout = layout_of(index);
  std::int64_t places = 1, batches = 1, most = 0;
  for (std::int64_t axis : s.gather->axes) places *= s.view_extent(axis);
  for (int h = 0; h < layout.hidden(); ++h) batches *= layout.shape[static_cast<std::size_t>(h)];
  const std::int64_t size = layout.size(), each = batches > 0 ? size / batches : 0;
  const std::int64_t* at = elements<const std::int64_t>(index, transforms_handled);
  rounds.assign(static_cast<std::size_t>(size), 0);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(places), 0);
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i) {
      if (at[i] == loops::dropped_index) continue;
      const std::int64_t k = seen[static_cast<std::size_t>(at[i])]++;
      rounds[static_cast<std::size_t>(i)] = k;
      if (k + 1 > most) most = k + 1;
    }
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index) seen[static_cast<std::size_t>(at[i])] = 0;
  }
  return most;
}

NAX_ENGINE ArrayBase ranks_on_device(const Selection& s, bool after) {
  const ArrayBase index = contiguous(s.gather->index);
  const Layout& layout = layout_of(index);
  ArrayBase ranks = allocate(DType::int64, layout, index.device());
  std::int64_t lines = 1;
  for (int h = 0; h < layout.hidden(); ++h) lines *= layout.shape[static_cast<std::size_t>(h)];
  if (layout.size() > 0)
    backend::accelerator_operations(index.device())
        .index_ranks(index.device(), lines, layout.size() / lines, after,
                     reinterpret_cast<const std::int64_t*>(device_data(index)),
                     reinterpret_cast<std::int64_t*>(device_data(ranks)));
  return ranks;
}

NAX_ENGINE Selection with_rank(const Selection& s, const ArrayBase& ranks, std::int64_t rank) {
  const ArrayBase index = contiguous(s.gather->index);
  auto step = std::make_shared<GatherStep>(*s.gather);
  step->index = typed<std::int64_t>(allocate(DType::int64, layout_of(index), index.device()));
  backend::accelerator_operations(index.device())
      .keep_ranked(index.device(), layout_of(index).size(),
                   reinterpret_cast<const std::int64_t*>(device_data(ranks)), rank,
                   reinterpret_cast<const std::int64_t*>(device_data(index)),
                   reinterpret_cast<std::int64_t*>(device_data(step->index)));
  Selection out = s;
  out.gather = std::move(step);
  return out;
}

NAX_ENGINE Selection last_ones(const Selection& s) {
  if (!s.gather) return s;
  if (on_accelerator(s.gather->index)) return with_rank(s, ranks_on_device(s, true), 0);
  for (std::size_t axis = 0; axis < s.gather->x_axis.size(); ++axis)
    if (s.gather->x_axis[axis] >= 0 && s.gather->index_axis[axis] >= 0) return s;  // of take_along_axis
  std::vector<std::int64_t> rounds;
  if (rounds_of(s, rounds) <= 1) return s;
  // Seen from the end, the last is the first.
  const ArrayBase index = contiguous(s.gather->index);
  const std::int64_t* at = elements<const std::int64_t>(index, transforms_handled);
  std::int64_t places = 1, batches = 1;
  for (std::int64_t axis : s.gather->axes) places *= s.view_extent(axis);
  for (int h = 0; h < layout_of(index).hidden(); ++h)
    batches *= layout_of(index).shape[static_cast<std::size_t>(h)];
  const std::int64_t size = layout_of(index).size(), each = size / batches;
  std::vector<std::int64_t> last(static_cast<std::size_t>(places), -1);
  std::vector<bool> keep(static_cast<std::size_t>(size), false);
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index) last[static_cast<std::size_t>(at[i])] = i;
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index)
        keep[static_cast<std::size_t>(i)] = last[static_cast<std::size_t>(at[i])] == i;
  }
  return with_dropped(s, [&](std::int64_t i) { return keep[static_cast<std::size_t>(i)]; });
}

}  // namespace detail
NAX_END
