#pragma once

#include "nax/numpy/indexing/index_items.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::int64_t> true_positions(const char* function, const Array<bool>& mask) {
  if (is_batched(mask))
    throw_batched(function, "the number of true elements would differ between examples: use where instead");
  const ArrayBase flat = contiguous(mask);
  const Device device = flat.device();
  ArrayBase out;
  const auto allocate_for = [&](std::int64_t count) {
    out = allocate(DType::int64, Frame{Dims(1, count), {}}, device);
    return reinterpret_cast<std::int64_t*>(device_data(out));
  };
  const loops::Room room = allocate_for;
  backend::run(device, ops::TruePositions{layout_of(flat).size(), &room}, {device_data(flat)});
  return typed<std::int64_t>(std::move(out));
}

NAX_ENGINE ArrayBase joined_positions(ArrayBase a, ArrayBase b, std::int64_t extent, const Frame& frame) {
  a = beside(b, a);
  b = beside(a, b);
  ArrayBase joined = allocate(DType::int64, frame, device_for("index", a, b));
  backend::run(joined.device(),
               ops::JoinIndices{extent, frame.shape, plain_operand(a, strides_over(layout_of(a), frame)),
                                plain_operand(b, strides_over(layout_of(b), frame)),
                                plain_operand(joined, layout_of(joined).strides)});
  return joined;
}

NAX_ENGINE Selection AdvancedIndex::finish() {
  while (static_cast<int>(s_.start.size()) < x_.ndim()) s_.append(0, 1, x_.visible(axis()), true);
  auto step = std::make_shared<GatherStep>();
  step->axes = axes_;
  step->index = typed<std::int64_t>(beside(array_, index_));
  const int index_ndim = index_.ndim(), place = apart_before_last_ ? 0 : place_;
  int at = 0;
  const auto put_index = [&] {
    for (int i = 0; i < index_ndim; ++i) step->x_axis.push_back(-1), step->index_axis.push_back(i);
  };
  for (std::size_t axis = 0; axis < s_.kept.size(); ++axis) {
    if (indexed(static_cast<std::int64_t>(axis))) continue;
    if (at++ == place) put_index();
    step->x_axis.push_back(static_cast<std::int64_t>(axis)), step->index_axis.push_back(-1);
  }
  if (at <= place) put_index();
  s_.gather = std::move(step);
  return std::move(s_);
}

NAX_ENGINE void AdvancedIndex::add_array(const Array<bool>& mask) {
  check_operand("index", mask);
  // As in NumPy an extent of 0, which chooses nothing, goes with any.
  for (int i = 0; i < mask.ndim(); ++i)
    if (mask.shape(i) != 0 && mask.shape(i) != x_.visible(axis() + i))
      raise<IndexError>({"index: boolean index did not match indexed array along axis ", axis() + i,
                         "; size of axis is ", x_.visible(axis() + i),
                         " but size of corresponding boolean axis is ", mask.shape(i)});
  add_positions(true_positions("index", mask), mask.ndim());
}

NAX_ENGINE void AdvancedIndex::add_positions(const Array<std::int64_t>& positions, int count) {
  if (!began_) place_ = static_cast<int>(s_.kept.size());
  apart_before_last_ = apart_;
  std::int64_t extent = 1;
  for (int i = 0; i < count; ++i) {
    extent *= x_.visible(axis());
    axes_.push_back(static_cast<std::int64_t>(s_.kept.size()));
    s_.append(0, 1, x_.visible(axis()), true);
  }
  if (!began_) {
    index_ = positions;
    began_ = true;
    return;
  }
  Frame frame;
  try {
    frame = broadcast("index", layout_of(index_), layout_of(positions));
  } catch (const ShapeError&) {
    raise<IndexError>({"index: shape mismatch: indexing arrays could not be broadcast together with shapes ",
                       index_.shape(), " ", positions.shape()});
  }
  index_ = typed<std::int64_t>(joined_positions(index_, positions, extent, frame));
}

}  // namespace detail
NAX_END
