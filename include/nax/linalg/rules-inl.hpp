#pragma once

#include "nax/linalg/rules.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame frame_like(const Frame& a, std::initializer_list<std::int64_t> tail) {
  Frame frame = leading_axes(a);
  for (std::int64_t extent : tail) frame.shape.push_back(extent);
  count_elements("linalg", frame.shape);
  return frame;
}

NAX_ENGINE void factorise(loops::Factoring what, const ArrayBase& a,
                          std::initializer_list<const ArrayBase*> results) {
  const ArrayBase rows = contiguous(a, transforms_handled);
  const Layout& layout = layout_of(rows);
  const std::size_t rank = layout.shape.size();
  what.batch = leading_axes(layout).size();
  what.m = layout.shape[rank - 2];
  what.n = layout.shape[rank - 1];
  void* to[3] = {};
  std::size_t count = 0;
  for (const ArrayBase* result : results) to[count++] = result ? device_data(*result) : nullptr;
  backend::operations(a.device()).factorise(a.device(), what, a.dtype(), device_data(rows), to);
}

}  // namespace detail
NAX_END
