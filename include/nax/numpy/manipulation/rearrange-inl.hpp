#pragma once

#include "nax/numpy/manipulation/rearrange.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase flip_on(const char* function, const ArrayBase& x, const Dims& axes) {
  check_operand(function, x);
  Selection s = Selection::all(layout_of(x));
  for (std::int64_t a : axes) {
    const std::size_t axis = static_cast<std::size_t>(a);
    s.step[axis] = -1;
    s.start[axis] = s.count[axis] > 0 ? s.count[axis] - 1 : 0;
  }
  return get(x, s);
}

// x with what lies before `cut` on an axis moved behind the rest; not recorded. Only where x lies contiguous
// on the host and is so small that nothing pays but to copy it; false otherwise.
NAX_ENGINE bool roll_small(const ArrayBase& x, int axis, std::int64_t cut, ArrayBase& result) {
  const Layout& layout = layout_of(x);
  std::int64_t inner = static_cast<std::int64_t>(dtype_size(x.dtype()));
  if (layout.size() == 0 || layout.size() * inner > most_bytes_of_small || on_accelerator(x) ||
      !layout.is_contiguous())
    return false;
  for (int a = axis + 1; a < layout.ndim(); ++a) inner *= layout.visible(a);
  const std::int64_t line = layout.visible(axis) * inner, first = cut * inner;
  result = allocate(x.dtype(), layout, x.device());
  const char* from = elements<const char>(x, transforms_handled);
  const char* const end = from + layout.size() * static_cast<std::int64_t>(dtype_size(x.dtype()));
  for (char* to = elements<char>(result, transforms_handled); from < end; from += line, to += line) {
    std::memcpy(to, from + first, static_cast<std::size_t>(line - first));
    std::memcpy(to + (line - first), from, static_cast<std::size_t>(first));
  }
  return true;
}

NAX_ENGINE ArrayBase rolled(ArrayBase x, const Axis& shift, const Axis& along) {
  check_operand("roll", x);
  const Shape shape = x.shape();
  if (!along.given()) x = reshape_to("roll", x, Shape{x.size()});
  Dims axes = along.list();
  if (!along.given()) axes.push_back(0);
  const Dims& shifts = shift.list();
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    raise<ValueError>({"roll: 'shift' and 'axis' should be scalars or 1D sequences of one length: ", shifts,
                       " and ", axes});
  const std::size_t count = shifts.size() > axes.size() ? shifts.size() : axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int axis = normalize_axis("roll", axes[axes.size() == 1 ? 0 : i], x.ndim());
    const std::int64_t n = x.shape(axis), by = shifts[shifts.size() == 1 ? 0 : i];
    if (n == 0) continue;
    const std::int64_t cut = ((n - by % n) % n + n) % n;
    if (cut == 0) continue;
    if (ArrayBase little; !is_recorded(x) && roll_small(x, axis, cut, little)) {
      x = std::move(little);
      continue;
    }
    const ArrayBase end = narrow(x, axis, cut, n), start = narrow(x, axis, 0, cut);
    ArrayList parts;
    parts.push_back(&end);
    parts.push_back(&start);
    x = concatenate_on("roll", parts, axis);
  }
  return along.given() ? x : reshape_to("roll", x, shape);
}

}  // namespace detail
NAX_END
