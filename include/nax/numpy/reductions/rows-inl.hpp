#pragma once

#include <algorithm>

#include "nax/backend/operations.hpp"
#include "nax/numpy/reductions/rows.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool marks_suffix(const AxisMarks& marks) {
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i - 1] && !marks[i]) return false;
  return true;
}

NAX_ENGINE bool has_rows(loops::RowFunction function, Device device, const AxisMarks& visible) {
  return marks_suffix(visible) && backend::operations(device).has(backend::part_of(function));
}

NAX_ENGINE void run_rows(loops::RowFunction function, std::int64_t length, double number,
                         std::initializer_list<const ArrayBase*> from,
                         std::initializer_list<const ArrayBase*> to) {
  const ArrayBase& first = **from.begin();
  const std::int64_t size = layout_of(first).size();
  if (size == 0) return;
  const char* in[loops::Rows::most_operands] = {};
  char* out[loops::Rows::most_results] = {};
  std::size_t i = 0, r = 0;
  for (const ArrayBase* x : from) in[i++] = x ? device_data(*x) : nullptr;
  for (const ArrayBase* y : to) out[r++] = y ? device_data(*y) : nullptr;
  const Device device = (*std::find_if(to.begin(), to.end(), [](const ArrayBase* y) { return y; }))->device();
  backend::operations(device).rows(device, {function, size / length, length, number}, first.dtype(), in, out);
}

NAX_ENGINE ArrayBase rows_value(loops::RowFunction function, const ArrayBase& x, std::int64_t length,
                                const Frame& frame, double number) {
  const Device device = share_memory(x.device(), Device{}) ? host_device() : x.device();
  ArrayBase result = allocate(x.dtype(), frame, device);
  const Layout& layout = layout_of(x);
  if (layout.size() == 0) return result;
  const ArrayBase row_major = layout.is_contiguous() ? ArrayBase() : contiguous(x, transforms_handled);
  const char* const from[loops::Rows::most_operands] = {device_data(layout.is_contiguous() ? x : row_major)};
  char* const to[loops::Rows::most_results] = {device_data(result)};
  backend::operations(device).rows(device, {function, layout.size() / length, length, number}, x.dtype(),
                                   from, to);
  return result;
}

NAX_ENGINE std::optional<ArrayBase> rows_gradient(loops::RowFunction function, const AxisMarks& visible,
                                                  std::initializer_list<const ArrayBase*> operands) {
  const ArrayBase &g = *operands.begin()[0], &y = *operands.begin()[1];
  const Layout& layout = layout_of(y);
  if (is_recorded(g) || is_recorded(y) || layout.size() == 0 || !layout.is_contiguous() ||
      !layout_of(g).is_contiguous() ||
      !(static_cast<const Frame&>(layout) == static_cast<const Frame&>(layout_of(g))))
    return std::nullopt;
  const Device device = device_for(loops::name_of(function), g, y);
  if (!has_rows(function, device, visible)) return std::nullopt;
  ArrayBase result = allocate(y.dtype(), layout, device);
  run_rows(function, marked_count(visible, layout), 0, operands, {&result});
  return result;
}

}  // namespace detail
NAX_END
