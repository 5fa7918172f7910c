#pragma once

#include <cstring>

#include "nax/core/array.hpp"
#include "nax/expr/device_compute.hpp"

namespace nax::detail {

// Zeros over a frame: one element, repeated.
inline ArrayBase zeros_over(DType dtype, const Frame& frame, Device device = current_device) {
  ArrayBase zero = allocate(dtype, Frame(), device);
  if (on_accelerator(zero))
    accelerator_of(zero.device()).clear(zero.device(), device_data(zero), dtype_size(dtype));
  else
    std::memset(raw_data(zero), 0, dtype_size(dtype));
  Layout layout;
  static_cast<Frame&>(layout) = frame;
  layout.strides = Dims(frame.shape.size(), 0);
  return view(std::move(zero), std::move(layout));
}
template <class T>
Array<T> zeros_over(const Frame& frame, Device device = current_device) {
  return Array<T>(zeros_over(dtype_of<T>, frame, device));
}

}  // namespace nax::detail
