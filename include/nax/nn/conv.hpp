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
  friend bool operator==(const ConvTransposeOptions&, const ConvTransposeOptions&) = default;
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

struct TransposedPaddingOptions {
  Shape output_padding = {};   // elements that the end of each axis gets beyond that
  Shape kernel_dilation = {};  // as in conv_transpose
};
// The padding for conv_transpose under which it is the transpose of a convolution with this padding on both
// ends of each axis: PyTorch's ConvTranspose. For one with a kernel (kernel..., in, out), whose w is
// PyTorch's flipped along the kernel's axes. Throws ValueError where an option has another count of numbers.
NAX_ENGINE lax::Padding transposed_padding(const Shape& kernel, const Shape& padding,
                                           const TransposedPaddingOptions& options = {});

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace nn {

NAX_ENGINE lax::Padding transposed_padding(const Shape& kernel, const Shape& padding,
                                           const TransposedPaddingOptions& options) {
  const std::size_t spatial = kernel.size();
  const Dims dilation =
      nax::detail::each_axis("transposed_padding", "kernel_dilation", options.kernel_dilation, spatial);
  if (padding.size() != spatial ||
      (!options.output_padding.empty() && options.output_padding.size() != spatial))
    raise<ValueError>({"transposed_padding: kernel ", kernel, ", padding ", padding, " and output_padding ",
                       options.output_padding, " differ in length"});
  std::vector<lax::Padding::Pair> pairs;
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    const std::int64_t side = nax::detail::dilated(kernel[axis], dilation[axis]) - 1 - padding[axis];
    pairs.push_back({side, side + (options.output_padding.empty() ? 0 : options.output_padding[axis])});
  }
  return pairs;
}

}  // namespace nn
NAX_END
#endif
