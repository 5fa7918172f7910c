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

NAX_ENGINE void run_rows(loops::RowFunction function, std::int64_t length, double number,
                         std::initializer_list<const ArrayBase*> from,
                         std::initializer_list<const ArrayBase*> to) {
  const ArrayBase& first = **from.begin();
  const std::int64_t size = layout_of(first).size();
  if (size == 0) return;
  const auto address = [](std::initializer_list<const ArrayBase*> list, std::size_t i) {
    return i < list.size() && list.begin()[i] ? device_data(*list.begin()[i]) : nullptr;
  };
  const Device device = (*std::find_if(to.begin(), to.end(), [](const ArrayBase* y) { return y; }))->device();
  backend::run(device, ops::Rows{{function, size / length, length, number}, first.dtype()},
               {address(from, 0), address(from, 1), address(from, 2), address(from, 3), address(from, 4),
                address(to, 0), address(to, 1), address(to, 2)});
}

NAX_ENGINE ArrayBase rows_value(loops::RowFunction function, const ArrayBase& x, std::int64_t length,
                                const Frame& frame, double number) {
  const Device device = share_memory(x.device(), Device{}) ? host_device() : x.device();
  ArrayBase result = allocate(x.dtype(), frame, device);
  const Layout& layout = layout_of(x);
  if (layout.size() == 0) return result;
  const ArrayBase row_major = layout.is_contiguous() ? ArrayBase() : contiguous(x, transforms_handled);
  backend::run(device, ops::Rows{{function, layout.size() / length, length, number}, x.dtype()},
               {device_data(layout.is_contiguous() ? x : row_major), nullptr, nullptr, nullptr, nullptr,
                device_data(result), nullptr, nullptr});
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
  if (!marks_suffix(visible)) return std::nullopt;
  ArrayBase result = allocate(y.dtype(), layout, device);
  run_rows(function, marked_count(visible, layout), 0, operands, {&result});
  return result;
}

}  // namespace detail
NAX_END
