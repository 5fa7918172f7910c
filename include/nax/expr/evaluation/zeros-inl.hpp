#pragma once

#include "nax/expr/evaluation/zeros.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase zeros_over(DType dtype, const Frame& frame, Device device) {
  ArrayBase zero = allocate(dtype, Frame(), device);
  clear_elements(zero);
  Layout layout;
  static_cast<Frame&>(layout) = frame;
  layout.strides = Dims(frame.shape.size(), 0);
  return view(std::move(zero), std::move(layout));
}

}  // namespace detail
NAX_END
