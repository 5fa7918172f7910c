#pragma once

#include "nax/core/compiler.hpp"
#include "nax/modules/data/trees.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE ArrayBase stack_leaf(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                                FunctionRef<std::string(std::size_t)> path) {
  const LeafView& first = leaves[j];
  const std::size_t n = leaves.size() / stride;
  Frame frame;
  frame.shape.push_back(static_cast<std::int64_t>(n));
  if (first.array)
    for (const std::int64_t extent : first.array->shape()) frame.shape.push_back(extent);
  ArrayBase result = allocate_on_host(first.dtype, frame);
  char* out = raw_data(result);
  const std::size_t bytes = n == 0 ? 0 : bytes_of(result) / n;
  for (std::size_t i = 0; i < n; ++i, out += bytes) {
    const LeafView& leaf = leaves[i * stride + j];
    if (!leaf.array) {
      std::memcpy(out, leaf.number, bytes);
      continue;
    }
    need_plain("batch", "an element", *leaf.array);
    need_host("batch", *leaf.array);
    check_operand("batch", *leaf.array);
    const Layout& layout = layout_of(*leaf.array);
    if (layout.shape.size() + 1 != frame.shape.size() ||
        !std::equal(layout.shape.begin(), layout.shape.end(), frame.shape.begin() + 1))
      raise<ShapeError>({"batch: elements 0 and ", i, " of a batch have shapes ", first.array->shape(),
                         " and ", leaf.array->shape(), path(j)});
    if (bytes == 0) continue;
    if (layout.is_contiguous()) {
      std::memcpy(out, raw_data(*leaf.array), bytes);
    } else {
      const ArrayBase copy = contiguous(*leaf.array, transforms_handled);
      std::memcpy(out, raw_data(copy), bytes);
    }
  }
  return result;
}

NAX_ENGINE ArrayBase row_of(const ArrayBase& a, std::int64_t i) {
  Layout layout = layout_of(a);
  const std::int64_t offset = layout.take_axis(0) * i;
  return view(a, std::move(layout), offset);
}

NAX_ENGINE ArrayBase gather_rows(const ArrayBase& a, std::span<const std::int64_t> rows) {
  Frame frame = layout_of(a);
  frame.shape[0] = static_cast<std::int64_t>(rows.size());
  ArrayBase result = allocate_on_host(a.dtype(), frame);
  std::size_t bytes = dtype_size(a.dtype());
  for (std::size_t axis = 1; axis < frame.shape.size(); ++axis)
    bytes *= static_cast<std::size_t>(frame.shape[axis]);
  if (bytes == 0 || rows.empty()) return result;
  const char* const from = raw_data(a);
  char* const to = raw_data(result);
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t ahead = 4;  // rows lie anywhere: their first lines are on the way meanwhile
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + ahead < end)
        NAX_PREFETCH(from + static_cast<std::size_t>(rows[static_cast<std::size_t>(i + ahead)]) * bytes);
      std::memcpy(to + static_cast<std::size_t>(i) * bytes,
                  from + static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]) * bytes, bytes);
    }
  };
  const auto grain = static_cast<std::int64_t>((std::size_t{1} << 18) / bytes + 1);
  parallel_for(static_cast<std::int64_t>(rows.size()), grain, copy);
  return result;
}

}  // namespace data::detail
NAX_END
