#pragma once

#include <string>

#include "nax/lax/associative_scan.hpp"
#include "nax/lax/conv_product.hpp"
#include "nax/lax/padding.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/transpose.hpp"

// Convolutions of one to three spatial axes.
NAX_BEGIN
namespace lax {

// Names the axes by letters: N the batch, C the channels of inputs and outputs, I and O those of
// the kernel; any other letter is a spatial axis.
struct DimensionNumbers {
  std::string lhs = "", rhs = "", out = "";
};

struct ConvOptions {
  Shape lhs_dilation = {};                  // the inputs stand so far apart, zeros between
  Shape rhs_dilation = {};                  // the same for the kernel
  DimensionNumbers dimension_numbers = {};  // "NCHW", "OIHW", "NCHW" for two axes, and so on
  std::int64_t feature_group_count = 1;     // groups of channels that do not mix
  std::int64_t batch_group_count = 1;
};

struct ConvTransposeOptions {
  Shape rhs_dilation = {};
  DimensionNumbers dimension_numbers = {};  // "NHWC", "HWIO", "NHWC" for two axes, and so on
  bool transpose_kernel = false;  // flips the kernel and swaps its channels: the transpose of a convolution
};

}  // namespace lax

namespace detail {

struct ConvAxes {
  std::vector<int> lhs, rhs, out;  // (N, spatial..., C), (spatial..., I, O), (N, spatial..., C)
};
// The places of the axes. Spatial ones go in the kernel's order.
NAX_ENGINE ConvAxes conv_axes(const char* function, const lax::DimensionNumbers& names, int ndim);
// The names that a function takes where none are given.
NAX_ENGINE lax::DimensionNumbers conv_names(const lax::DimensionNumbers& given, int ndim, bool channels_last);

// The sizes of a convolution of operands (N, spatial..., C) and (spatial..., I, O), checked.
NAX_ENGINE ConvRef conv_spec(const char* function, const Shape& x, const Shape& w, const Dims& window_strides,
                             const lax::Padding& padding, const Dims& lhs_dilation, const Dims& rhs_dilation,
                             std::int64_t groups);

template <class T>
using conv_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Where operands of a half type would be computed; the host for numbers and expressions.
template <class X, class W>
Device device_of_conv(const X& x, const W& w) {
  if constexpr (is_array_v<X> && is_array_v<W>)
    return device_for("conv_general_dilated", x, w);
  else
    return Device{};
}

template <class T>
Array<T> convolve(const char* function, const Array<T>& x, const Array<T>& w, const Dims& strides,
                  const lax::Padding& padding, const Dims& lhs_dilation, const Dims& rhs_dilation,
                  const ConvAxes& axes, std::int64_t groups) {
  const Array<T> from = x.transpose(axes.lhs), by = w.transpose(axes.rhs);
  const ConvRef spec =
      conv_spec(function, from.shape(), by.shape(), strides, padding, lhs_dilation, rhs_dilation, groups);
  const Array<T> y = conv_forward(spec, from, by);
  std::vector<int> back(axes.out.size());
  for (std::size_t i = 0; i < back.size(); ++i)
    back[static_cast<std::size_t>(axes.out[i])] = static_cast<int>(i);
  return y.transpose(back);
}

template <ArrayLike X, ArrayLike W>
void check_conv(const char* function, const X& x, const W& w) {
  check_operand(function, x);
  check_operand(function, w);
  if (x.ndim() != w.ndim() || x.ndim() < 3 || x.ndim() > 5)
    raise<ShapeError>({function,
                       ": input and kernel must both have one to three spatial axes and two more: shapes ",
                       x.shape(), " and ", w.shape()});
}

// The element type of a convolution, and the one that it is computed in.
template <class X, class W>
using conv_result_t = inexact_t<promote_t<typename X::value_type, typename W::value_type>>;

}  // namespace detail

namespace lax {

// The convolution of lhs with the kernel rhs (as networks have it: not flipped), with JAX's arguments. One to
// three spatial axes; floating types (half types are computed in float, or by a GPU's library of
// convolutions, which adds up in float). Differentiable in both to any order.
// (N, C, spatial...) with (O, C / groups, spatial...) gives (N, O, out...), in the order of
// `dimension_numbers`. out = (x + low + high - k) / stride + 1, x and k the dilated extents. Throws
// ShapeError where channels and groups disagree.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv_general_dilated(const X& lhs, const W& rhs, const Shape& window_strides, const Padding& padding,
                          const ConvOptions& options = {}) {
  using namespace nax::detail;
  using R = conv_result_t<X, W>;
  static_assert(!is_complex_v<R>, "conv_general_dilated: complex types are not supported");
  const char* const name = "conv_general_dilated";
  // Computes in T, R or wider.
  const auto in = [&]<class T>(std::type_identity<T>) {
    const Array<T> x = as_type<T>(lhs), w = as_type<T>(rhs);
    check_conv(name, x, w);
    const DimensionNumbers names = conv_names(options.dimension_numbers, x.ndim(), false);
    const ConvAxes axes = conv_axes(name, names, x.ndim());
    const std::int64_t channels = x.shape(axes.lhs.back()), takes = w.shape(axes.rhs[axes.rhs.size() - 2]);
    if (axes.lhs.back() != x.ndim() - 1 && options.feature_group_count >= 1 &&
        options.batch_group_count == 1 && channels != takes * options.feature_group_count)
      raise<ShapeError>({name, ": the input has ", channels, " channels, the kernel takes ", takes,
                         " in each of ", options.feature_group_count, " groups: shapes ", x.shape(), " and ",
                         w.shape()});
    const auto run = [&](const Array<T>& a, const Array<T>& b) {
      return convolve(name, a, b, window_strides, padding, options.lhs_dilation, options.rhs_dilation, axes,
                      options.feature_group_count);
    };
    const std::int64_t groups = options.batch_group_count;
    if (groups == 1) return run(x, w);
    const int n = axes.lhs[0], o = axes.rhs.back();
    if (groups < 1 || options.feature_group_count != 1)
      raise<ValueError>(
          {name, ": batch_group_count must be at least 1, and 1 beside feature_group_count: ", groups});
    if (x.shape(n) % groups != 0 || w.shape(o) % groups != 0)
      raise<ShapeError>({name, ": batch_group_count ", groups, " does not divide the batch of ", x.shape(n),
                         " and the ", w.shape(o), " output channels"});
    std::vector<Array<T>> parts;
    for (std::int64_t g = 0; g < groups; ++g)
      parts.push_back(run(stepped(x, n, g * (x.shape(n) / groups), 1, x.shape(n) / groups),
                          stepped(w, o, g * (w.shape(o) / groups), 1, w.shape(o) / groups)));
    return concatenate_on(name, parts, axes.out.back());
  };
  using T = conv_t<R>;
  if constexpr (std::is_same_v<T, R>) {
    return in(std::type_identity<T>());
  } else {
    if (backend::has<ops::Convolve>(device_of_conv(lhs, rhs), dtype_of<R>))
      return in(std::type_identity<R>());
    return in(std::type_identity<T>()).template astype<R>();
  }
}

// JAX's short forms, channels first: conv(x, w, {1, 1}, "SAME"). (N, C, spatial...) with (O, C, spatial...)
// gives (N, O, out...).
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv(const X& lhs, const W& rhs, const Shape& window_strides, const Padding& padding) {
  return conv_general_dilated(lhs, rhs, window_strides, padding);
}
// A convolution with padding and dilations. As conv_general_dilated, its first arguments by place.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv_with_general_padding(const X& lhs, const W& rhs, const Shape& window_strides,
                               const Padding& padding, const Shape& lhs_dilation, const Shape& rhs_dilation) {
  return conv_general_dilated(lhs, rhs, window_strides, padding,
                              {.lhs_dilation = lhs_dilation, .rhs_dilation = rhs_dilation});
}

// The transposed convolution, which enlarges its input by the strides; JAX's arguments, channels last. "SAME"
// and "VALID" are those of the convolution that it would transpose. (N, spatial..., C) with (spatial..., C,
// O) gives (N, out..., O); "SAME" makes out the extent times the stride. Throws ShapeError if shapes or
// channels do not fit, and ValueError for invalid strides, dilations or padding.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike W>
auto conv_transpose(const X& lhs, const W& rhs_, const Shape& strides_, const Padding& padding,
                    const ConvTransposeOptions& options = {}) {
  using namespace nax::detail;
  const char* const name = "conv_transpose";
  auto rhs = as_array(rhs_);
  check_conv(name, as_array(lhs), rhs);
  const int ndim = rhs.ndim();
  const std::size_t spatial = static_cast<std::size_t>(ndim) - 2;
  const DimensionNumbers names = conv_names(options.dimension_numbers, ndim, true);
  const ConvAxes axes = conv_axes(name, names, ndim);
  const Dims strides = each_axis(name, "strides", strides_, spatial),
             dilation = each_axis(name, "rhs_dilation", options.rhs_dilation, spatial);
  std::vector<Padding::Pair> pads;
  if (padding.named()) {
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      const std::int64_t k = dilated(rhs.shape(axes.rhs[axis]), dilation[axis]), s = strides[axis];
      std::int64_t all = 0, low = 0;
      if (padding.name() == "SAME") {
        all = k + s - 2;
        low = s > k - 1 ? k - 1 : (all + 1) / 2;
      } else if (padding.name() == "VALID") {
        all = k + s - 2 + std::max<std::int64_t>(k - s, 0);
        low = k - 1;
      } else {
        raise<ValueError>({name, ": padding must be 'SAME', 'VALID' or pairs, not '", padding.name(), "'"});
      }
      pads.push_back({low, all - low});
    }
  } else {
    pads = padding.over(name, Dims(spatial, 1), Dims(spatial, 1), strides);
  }
  if (options.transpose_kernel) {
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      const std::int64_t n = rhs.shape(axes.rhs[axis]);
      if (n > 0) rhs = stepped(rhs, axes.rhs[axis], n - 1, -1, n);
    }
    std::vector<int> swapped;
    for (int axis = 0; axis < ndim; ++axis) swapped.push_back(axis);
    std::swap(swapped[static_cast<std::size_t>(axes.rhs[spatial])],
              swapped[static_cast<std::size_t>(axes.rhs[spatial + 1])]);
    rhs = rhs.transpose(swapped);
  }
  return conv_general_dilated(
      lhs, rhs, Shape(Dims(spatial, 1)), Padding(pads),
      {.lhs_dilation = Shape(strides), .rhs_dilation = Shape(dilation), .dimension_numbers = names});
}

}  // namespace lax
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/conv-inl.hpp"
#endif
