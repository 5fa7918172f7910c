#pragma once

#include "nax/lax/windows.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE WindowSpec window_spec(const char* function, const Shape& in, const Dims& window,
                                  const Dims& strides, const lax::Padding& padding, const Dims& base,
                                  const Dims& dilation) {
  const std::size_t n = in.size();
  if (window.size() != n)
    raise<ValueError>({function, ": the window has ", window.size(), " axes for an array of shape ", in});
  WindowSpec s;
  s.in = in;
  s.window = each_axis(function, "window_dimensions", window, n);
  s.strides = each_axis(function, "window_strides", strides, n);
  s.base = each_axis(function, "base_dilation", base, n);
  s.dilation = each_axis(function, "window_dilation", dilation, n);
  Dims wide_in, wide_window;
  for (std::size_t axis = 0; axis < n; ++axis) {
    wide_in.push_back(dilated(in[axis], s.base[axis]));
    wide_window.push_back(dilated(s.window[axis], s.dilation[axis]));
  }
  const auto pads =
      padding.over(function, in, wide_window, s.strides);  // of elements as they were, as in JAX
  for (std::size_t axis = 0; axis < n; ++axis) {
    s.low.push_back(pads[axis].first);
    s.high.push_back(pads[axis].second);
    s.out.push_back(window_count(function, wide_in[axis], wide_window[axis], s.strides[axis], pads[axis]));
  }
  count_elements(function, s.out);
  return s;
}

NAX_ENGINE ArrayBase window_positions(const ArrayBase& x, const WindowSpec& s, bool greatest) {
  const ArrayBase from = contiguous(x, transforms_handled);
  Frame frame = layout_of(from);
  std::int64_t examples = 1;
  for (int h = 0; h < frame.hidden(); ++h) examples *= frame.shape[static_cast<std::size_t>(h)];
  frame.shape = Dims(frame.shape.begin(), frame.shape.begin() + frame.hidden());
  frame.shape.append(s.out.begin(), s.out.end());
  const Device device = device_for("max_pool", from);
  ArrayBase result = allocate(DType::int64, frame, device);
  if (layout_of(result).size() > 0)
    backend::run(device, ops::BestInWindows{s, greatest, examples, from.dtype()},
                 {device_data(from), device_data(result)});
  return result;
}

NAX_ENGINE Dims keep_windows_with_elements(WindowSpec& s) {
  Dims begin;
  for (std::size_t axis = 0; axis < s.in.size(); ++axis) {
    const std::int64_t in = s.in[axis], window = s.window[axis], stride = s.strides[axis];
    std::int64_t &low = s.low[axis], &out = s.out[axis];
    // The first window that begins at this place behind the padding's begin, or later.
    const auto first_from = [&](std::int64_t place) {
      return std::clamp<std::int64_t>((place + stride - 1) / stride, 0, out);
    };
    const std::int64_t first = first_from(low - window + 1),
                       held = in == 0 ? 0 : std::max<std::int64_t>(first_from(low + in) - first, 0);
    begin.push_back(first);
    if (held == out) continue;
    out = held;
    low -= first * stride;
    s.high[axis] = (held - 1) * stride + window - low - in;
  }
  return begin;
}

}  // namespace detail
NAX_END
