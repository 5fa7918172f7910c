#pragma once

#include "nax/core/layout.hpp"
#include "nax/core/overflow.hpp"

NAX_BEGIN

NAX_ENGINE std::int64_t Layout::make_row_major(const Frame& frame) {
  static_cast<Frame&>(*this) = frame;
  const std::size_t n = shape.size();
  strides.resize_for_overwrite(n);
  std::int64_t size = 1;
  bool over = false;
  for (std::size_t i = n; i-- > 0;) {
    strides[i] = size;
    over |= detail::multiply_overflows(size, shape[i], size);
  }
  if (over || size <= 0 || size > detail::most_elements) [[unlikely]]
    return detail::count_elements("array", shape);
  return size;
}

NAX_ENGINE bool Layout::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

NAX_END
NAX_BEGIN
namespace detail {

NAX_ENGINE Frame broadcast(const char* function, const Frame& a, const Frame& b) {
  if (a == b) return a;
  Frame out;
  int i = 0, j = 0;
  while (i < a.hidden() || j < b.hidden()) {
    const bool left = j == b.hidden() || (i < a.hidden() && a.levels[i] <= b.levels[j]);
    const bool both = left && j < b.hidden() && a.levels[i] == b.levels[j];
    const std::int64_t extent = left ? a.shape[i] : b.shape[j];
    out.levels.push_back(left ? a.levels[i] : b.levels[j]);
    out.shape.push_back(extent);
    if (left) ++i;
    if (both || !left) ++j;
  }
  const int n = a.ndim() > b.ndim() ? a.ndim() : b.ndim();
  for (int axis = 0; axis < n; ++axis) {
    const int x = axis - (n - a.ndim()), y = axis - (n - b.ndim());
    const std::int64_t p = x < 0 ? 1 : a.visible(x), q = y < 0 ? 1 : b.visible(y);
    if (p != q && p != 1 && q != 1) throw_broadcast(function, a, b);
    out.shape.push_back(p == 1 ? q : p);
  }
  count_elements(function, out.shape);
  return out;
}

NAX_ENGINE Dims strides_over(const Layout& from, const Frame& to) {
  Dims strides(to.shape.size(), 0);
  for (int h = 0; h < from.hidden(); ++h) strides[to.find(from.levels[h])] = from.strides[h];
  const int shift = static_cast<int>(to.shape.size()) - static_cast<int>(from.shape.size());
  for (int axis = from.hidden(); axis < static_cast<int>(from.shape.size()); ++axis)
    strides[axis + shift] = from.shape[axis] == 1 && to.shape[axis + shift] != 1 ? 0 : from.strides[axis];
  return strides;
}

NAX_ENGINE AxisMarks over_frame(const AxisMarks& visible, const Frame& frame) {
  AxisMarks marks(static_cast<std::size_t>(frame.hidden()), false);
  marks.append(visible.begin(), visible.end());
  return marks;
}

NAX_ENGINE Levels merge_levels(const Levels& a, const Levels& b) {
  Levels out;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i] < b[j]))
      out.push_back(a[i++]);
    else if (i == a.size() || b[j] < a[i])
      out.push_back(b[j++]);
    else
      out.push_back(a[i++]), ++j;
  }
  return out;
}

NAX_ENGINE bool contains(const Levels& levels, Level level) {
  for (Level l : levels)
    if (l == level) return true;
  return false;
}

}  // namespace detail
NAX_END
