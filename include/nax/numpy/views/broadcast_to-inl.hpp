#pragma once

#include "nax/numpy/views/broadcast_to.hpp"

NAX_BEGIN
namespace detail {

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
