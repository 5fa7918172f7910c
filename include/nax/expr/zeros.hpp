#pragma once

#include "nax/core/array.hpp"
#include "nax/expr/device_compute.hpp"

namespace nax::inline NAX_ABI::detail {

// Zeros over a frame: one element, repeated.
NAX_ENGINE ArrayBase zeros_over(DType dtype, const Frame& frame, Device device = current_device);
template <class T>
Array<T> zeros_over(const Frame& frame, Device device = current_device) {
  return typed<T>(zeros_over(dtype_of<T>, frame, device));
}
// Zeros in the shape of an array, on its device.
template <class T>
Array<T> zeros_over(const Array<T>& like) {
  return zeros_over<T>(layout_of(like), device_for("zeros", like));
}

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE ArrayBase zeros_over(DType dtype, const Frame& frame, Device device) {
  ArrayBase zero = allocate(dtype, Frame(), device);
  clear_elements(zero);
  Layout layout;
  static_cast<Frame&>(layout) = frame;
  layout.strides = Dims(frame.shape.size(), 0);
  return view(std::move(zero), std::move(layout));
}

}  // namespace nax::inline NAX_ABI::detail
#endif
