#pragma once

#include "nax/core/array.hpp"

namespace nax::detail {

// Zeros over a frame: one element, repeated.
template <class T>
Array<T> zeros_over(const Frame& frame) {
  Array<T> zero(T(0));
  Layout layout;
  static_cast<Frame&>(layout) = frame;
  layout.strides = Dims(frame.shape.size(), 0);
  return Array<T>(view(std::move(zero), std::move(layout)));
}

}  // namespace nax::detail
