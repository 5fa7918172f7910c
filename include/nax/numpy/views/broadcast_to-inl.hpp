#pragma once

#include "nax/numpy/views/broadcast_to.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase broadcast_visible(const char* function, const ArrayBase& x, const Dims& shape) {
  check_operand(function, x);
  Frame frame = with_visible(layout_of(x), shape);
  count_elements(function, frame.shape);
  const int ndim = static_cast<int>(shape.size()), extra = ndim - x.ndim();
  bool fits = extra >= 0;
  for (int axis = 0; fits && axis < x.ndim(); ++axis) {
    const std::int64_t n = x.shape(axis);
    fits = n == 1 || n == shape[static_cast<std::size_t>(axis + extra)];
  }
  if (!fits)
    raise<ShapeError>(
        {function, ": operands could not be broadcast together with remapped shapes [original->remapped]: ",
         x.shape(), " and requested shape ", shape});
  return broadcast_frame(x, frame);
}

NAX_ENGINE Dims common_shape(const char* function, std::initializer_list<const Layout*> layouts) {
  Frame frame;
  for (const Layout* layout : layouts) frame = broadcast(function, frame, Frame{layout->visible_shape(), {}});
  return frame.shape;
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Frame frame;
  for (const Shape& shape : shapes) frame = detail::broadcast("broadcast_shapes", frame, Frame{shape, {}});
  return frame.shape;
}

NAX_END
