#pragma once

#include "nax/numpy/sequences/convolve.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase correlated(Device device, const ArrayBase& x_, const ArrayBase& w_, std::int64_t low,
                                std::int64_t length) {
  Frame fx = layout_of(x_), fw = layout_of(w_);
  const std::int64_t n = fx.shape.back(), taps = fw.shape.back();
  fx.shape.pop_back();
  fw.shape.pop_back();
  const Frame batches = broadcast("convolve", fx, fw);
  Frame frame = batches;
  frame.shape.push_back(length);
  const ArrayBase result = allocate(x_.dtype(), frame, device);
  if (layout_of(result).size() == 0) return result;
  const ArrayBase x = beside(result, x_), w = beside(result, w_);
  const auto leading = [&](const ArrayBase& from) {
    Layout l = layout_of(from);
    l.shape.pop_back();
    l.strides.pop_back();
    return strides_over(l, batches);
  };
  const loops::Correlation line{
      n, taps, low, length, layout_of(x).strides.back(), layout_of(w).strides.back()};
  backend::run(device, ops::Correlate{line, batches.shape, leading(x), leading(w), x.dtype()},
               {device_data(x), device_data(w), device_data(result)});
  return result;
}

}  // namespace detail
NAX_END
