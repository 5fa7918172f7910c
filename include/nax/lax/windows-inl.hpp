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

}  // namespace detail
NAX_END
