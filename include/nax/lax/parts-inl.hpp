#pragma once

#include "nax/lax/parts.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase rows_view(const ArrayBase& x, std::int64_t first, std::int64_t n, bool drop) {
  Layout layout = layout_of(x);
  const std::size_t at = layout.levels.size();
  const std::int64_t offset = n > 0 ? first * layout.strides[at] : 0;
  if (drop)
    layout.take_axis(at);
  else
    layout.shape[at] = n;
  return view(x, std::move(layout), offset);
}

NAX_ENGINE void RowWriter::put(const char* function, const ArrayBase& row, std::int64_t i, std::int64_t n) {
  check_operand(function, row);
  if (!begun_) {
    frame_ = layout_of(row);
    begun_ = true;
  } else if (!(row.shape() == frame_.visible_shape())) {
    raise<ShapeError>({function, ": the outputs of the steps differ in shape: ", frame_.visible_shape(),
                       " and ", row.shape()});
  }
  if (done_.empty() && !is_recorded(row) && frame_ == layout_of(row)) {
    start(row, n);
    if (whole_.device() == row.device()) {
      write(row, i);
      order_.push_back(i);
      return;
    }
  }
  if (done_.empty()) {
    done_.resize(static_cast<std::size_t>(n));
    for (const std::int64_t j : order_) done_[static_cast<std::size_t>(j)] = rows_view(whole_, j, 1, true);
  }
  done_[static_cast<std::size_t>(i)] = row;
}

NAX_ENGINE void CarryShapes::check_one(const char* function, const ArrayBase& leaf, std::size_t i) const {
  if (i >= shapes_.size()) throw_count(function, i + 1);
  const Layout& layout = layout_of(leaf);
  const Shape& shape = shapes_[i];
  bool same = static_cast<std::size_t>(layout.ndim()) == shape.size();
  for (std::size_t axis = 0; same && axis < shape.size(); ++axis)
    same = layout.visible(static_cast<int>(axis)) == shape[axis];
  if (!same)
    raise<ShapeError>({function, ": the body changes the shape of the carry (array ", i, "): ", shape,
                       " in, ", leaf.shape(), " out"});
}

}  // namespace detail
NAX_END
