#pragma once

#include "nax/parallel/collective_rules.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_divides(const char* function, const Shape& shape, int axis, std::int64_t size,
                              bool tiled) {
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  if (tiled ? extent % size != 0 : extent != size)
    raise<ShapeError>({function, ": axis ", axis, " of shape ", shape,
                       (tiled ? " must be a multiple of" : " must equal"), " the mapped axis' size ", size});
}

NAX_ENGINE std::int64_t hidden_size(const Frame& frame) {
  std::int64_t n = 1;
  for (int h = 0; h < frame.hidden(); ++h) n *= frame.shape[h];
  return n;
}

NAX_ENGINE std::string along(int axis) { return ", along axis " + std::to_string(axis); }

NAX_ENGINE std::string from_to(const Permutation& permutation) {
  std::string text;
  for (const auto& [from, to] : permutation)
    text += ", (" + std::to_string(from) + ", " + std::to_string(to) + ")";
  return text;
}

NAX_ENGINE Layout row_of(Layout layout, std::size_t axis) {
  layout.take_axis(axis);
  return layout;
}

}  // namespace detail
NAX_END
