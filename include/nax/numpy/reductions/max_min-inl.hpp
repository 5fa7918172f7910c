#pragma once

#include "nax/numpy/reductions/max_min.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool goes_by_rows(const ArrayBase& x, const ArrayBase* of_x, const ArrayBase& y,
                             const ArrayBase& of_y, const AxisMarks& marks) {
  const Layout& layout = layout_of(x);
  if (recording.tape || layout.size() == 0 || !layout.is_contiguous() || on_accelerator(x) ||
      !marks_suffix(marks))
    return false;
  // Threads share rows; that there are enough of them must not depend on how many threads there are, as the
  // order of sums does on the way that is taken.
  constexpr std::int64_t enough_rows = 16;
  if (layout.size() > cpu::detail::parallel_grain && layout_of(y).size() < enough_rows) return false;
  for (const ArrayBase* one : {&y, &of_y})
    if (on_accelerator(*one) || !layout_of(*one).is_contiguous() ||
        !(static_cast<const Frame&>(layout_of(*one)) == layout_of(y)))
      return false;
  if (layout_of(y).levels != layout.levels) return false;
  return !of_x || (!on_accelerator(*of_x) && layout_of(*of_x).is_contiguous() &&
                   static_cast<const Frame&>(layout_of(*of_x)) == layout);
}

}  // namespace detail
NAX_END
