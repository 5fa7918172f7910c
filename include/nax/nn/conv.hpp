#pragma once

#include "nax/lax/conv.hpp"

// Convolutional layers, channels last: inputs (batch, spatial..., channels), kernels (spatial..., in, out).
NAX_BEGIN
namespace nn {

struct ConvOptions {
  Shape strides = {};
  lax::Padding padding = "SAME";
  Shape input_dilation = {};
  Shape kernel_dilation = {};
  std::int64_t feature_group_count = 1;
  friend bool operator==(const ConvOptions&, const ConvOptions&) = default;
};

// The convolution of x (N, spatial..., C) with w (spatial..., C / groups, O): one to three spatial axes. The
// result has shape (N, out..., O). Throws ShapeError if shapes or channels do not fit, and ValueError for
// invalid strides, dilations or padding.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv(const X& x, const W& w, const ConvOptions& options = {}) {
  const auto kernel = nax::detail::as_array(w);
  const std::size_t spatial = static_cast<std::size_t>(std::max(kernel.ndim() - 2, 0));
  lax::ConvOptions all;
  all.lhs_dilation = options.input_dilation;
  all.rhs_dilation = options.kernel_dilation;
  all.feature_group_count = options.feature_group_count;
  if (kernel.ndim() >= 3 && kernel.ndim() <= 5)
    all.dimension_numbers = nax::detail::conv_names({}, kernel.ndim(), true);
  return lax::conv_general_dilated(x, kernel,
                                   Shape(nax::detail::each_axis("conv", "strides", options.strides, spatial)),
                                   options.padding, all);
}

struct ConvTransposeOptions {
  Shape strides = {};
  lax::Padding padding = "SAME";
  Shape kernel_dilation = {};
  bool transpose_kernel = false;
};
// The transposed convolution: x (N, spatial..., C), w (spatial..., C, O), outputs larger by the strides. The
// result has shape (N, out..., O). Throws ShapeError if shapes or channels do not fit, and ValueError for
// invalid strides, dilations or padding.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv_transpose(const X& x, const W& w, const ConvTransposeOptions& options = {}) {
  const auto kernel = nax::detail::as_array(w);
  const std::size_t spatial = static_cast<std::size_t>(std::max(kernel.ndim() - 2, 0));
  return lax::conv_transpose(
      x, kernel, Shape(nax::detail::each_axis("conv_transpose", "strides", options.strides, spatial)),
      options.padding,
      {.rhs_dilation = options.kernel_dilation, .transpose_kernel = options.transpose_kernel});
}

}  // namespace nn
NAX_END
