#pragma once

#include "nax/expr/differentiation/sum_axes.hpp"
#include "nax/tape/levels.hpp"

// Entry and exit of vmap: turns a visible axis into a hidden one, and back. Both are recorded views.
NAX_BEGIN
namespace detail {

template <class T>
Array<T> unbatch(const Array<T>& x, int axis, Level level, std::int64_t size);

// Visible axis `axis` of x (already counted from the front) becomes the hidden axis of `level`.
template <class T>
Array<T> batch(const Array<T>& x, int axis, Level level) {
  Layout layout = layout_of(x);
  const std::size_t from = static_cast<std::size_t>(layout.hidden() + axis);
  const std::int64_t extent = layout.shape[from];
  std::size_t to = 0;
  while (to < layout.levels.size() && layout.levels[to] < level) ++to;
  layout.move_axis(from, to);
  layout.levels.insert(to, level);
  Array<T> result = typed<T>(view(x, std::move(layout)));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return unbatch(g, axis, level, extent); },
                      [=](const Array<T>& t) { return batch(t, axis, level); }));
  else
    return result;
}

// The hidden axis of `level` becomes visible axis `axis`; an array without it is repeated by a stride of 0.
template <class T>
Array<T> unbatch(const Array<T>& x, int axis, Level level, std::int64_t size) {
  Layout layout = layout_of(x);
  const int from = layout.find(level);
  std::int64_t stride = 0;
  if (from >= 0) {
    stride = layout.take_axis(static_cast<std::size_t>(from));
    layout.levels.erase(static_cast<std::size_t>(from));
  }
  layout.shape.insert(static_cast<std::size_t>(layout.hidden() + axis), size);
  layout.strides.insert(static_cast<std::size_t>(layout.hidden() + axis), stride);
  Array<T> result = typed<T>(view(x, std::move(layout)));
  if constexpr (is_inexact_v<T>) {
    const bool batched = from >= 0;
    return record(std::move(result), wrt(
                                         x,
                                         [=](const Array<T>& g) {
                                           Array<T> share = batch(g, axis, level);
                                           if (batched) return share;
                                           Levels one;
                                           one.push_back(level);
                                           return sum_levels(std::move(share), one, Levels());
                                         },
                                         [=](const Array<T>& t) { return unbatch(t, axis, level, size); }));
  } else {
    return result;
  }
}

}  // namespace detail
NAX_END
