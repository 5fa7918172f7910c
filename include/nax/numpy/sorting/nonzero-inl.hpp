#pragma once

#include "nax/numpy/sorting/nonzero.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<Array<std::int32_t>> unravelled(const Array<std::int64_t>& positions,
                                                       const Shape& shape) {
  std::vector<Array<std::int32_t>> out;
  std::int64_t below = shape.count();
  for (std::int64_t extent : shape) {
    below = extent > 0 ? below / extent : 1;
    // The middle one of three axes is kept.
    const Array<std::int64_t> along =
        offsets_of(positions, Shape{shape.count(), extent, below}, Shape{0, 1, 0});
    out.push_back(typed<std::int32_t>(as_dtype(along, DType::int32)));
  }
  return out;
}

NAX_ENGINE std::vector<Array<std::int32_t>> indices_of_true(const char* function, const Array<bool>& mask) {
  for (const std::int64_t extent : mask.shape()) check_places(function, extent - 1);
  if (!is_known(mask)) return unravelled(true_positions(function, mask), mask.shape());  // (or its error)
  const ArrayBase flat = contiguous(mask);
  const bool* m = elements<const bool>(flat);
  const Shape shape = mask.shape();
  if (shape.empty()) return {};
  const std::int64_t n = shape.count(), count = cpu::detail::count_true(m, n);
  std::vector<Array<std::int32_t>> out;
  Dims index(shape.size(), 0);
  SmallVector<std::int32_t*, 8> to;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    out.push_back(typed<std::int32_t>(allocate_on_host(DType::int32, Frame{Dims(1, count), {}})));
    to.push_back(elements<std::int32_t>(out.back()));
  }
  // Row by row: along the last axis the places in the row, along the others the row's own.
  const std::size_t last = shape.size() - 1;
  const std::int64_t length = shape.back();
  std::int32_t* along = to[last];
  const std::int32_t* const end = along + count;
  for (std::int64_t row = 0; row < n; row += length) {
    std::int32_t* const next = cpu::write_true_places<std::int32_t>(m + row, length, 0, along, end);
    for (std::size_t axis = 0; axis < last; ++axis)
      to[axis] = std::fill_n(to[axis], next - along, static_cast<std::int32_t>(index[axis]));
    along = next;
    for (std::size_t axis = last; axis > 0; --axis) {
      if (++index[axis - 1] < shape[axis - 1]) break;
      index[axis - 1] = 0;
    }
  }
  for (Array<std::int32_t>& a : out) a = typed<std::int32_t>(placed(a));
  return out;
}

NAX_ENGINE std::vector<Array<std::int32_t>> indices_by_axis(const char* function, const Array<bool>& mask) {
  if (mask.ndim() == 0)
    raise<ValueError>({function, ": a 0-d array has no axes: use atleast_1d, or item() for its value"});
  return indices_of_true(function, mask);
}

}  // namespace detail
NAX_END
