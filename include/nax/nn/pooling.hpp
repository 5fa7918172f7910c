#pragma once

#include "nax/lax/conv.hpp"
#include "nax/lax/windows.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"

// Pooling, channels last: inputs (batch..., spatial..., channels), windows over the spatial axes.
NAX_BEGIN
namespace nn {

struct PoolOptions {
  Shape strides = {};  // 1 each when not given
  lax::Padding padding = "VALID";
};
struct AvgPoolOptions {
  Shape strides = {};
  lax::Padding padding = "VALID";
  bool count_include_pad = true;  // whether the mean's count has the elements of the padding
};

}  // namespace nn

namespace detail {

// The windows over all axes: the batch and the channels are left alone.
NAX_ENGINE WindowSpec pool_spec(const char* function, const Shape& x, const Shape& window,
                                const Shape& strides, const lax::Padding& padding);

template <class X>
auto extreme_pool(const char* function, const X& x_, const Shape& window, const nn::PoolOptions& options,
                  typename X::value_type otherwise, bool greatest) {
  const auto x = as_array(x_);
  check_operand(function, x);
  return extremum_of_windows(function, x,
                             pool_spec(function, x.shape(), window, options.strides, options.padding),
                             otherwise, greatest);
}

// The sums of windows over the spatial axes of (N, spatial..., C): a convolution with ones, channel by
// channel.
template <class T>
Array<T> window_sums(const Array<T>& x, const WindowSpec& s, std::size_t spatial) {
  const std::size_t batch = s.in.size() - spatial - 1;
  std::int64_t n = 1;
  Dims shape, kernel, strides, out(s.out);
  std::vector<lax::Padding::Pair> pads;
  for (std::size_t axis = 0; axis < batch; ++axis) n *= s.in[axis];
  shape.push_back(n);
  for (std::size_t axis = batch; axis < batch + spatial; ++axis) {
    shape.push_back(s.in[axis]);
    kernel.push_back(s.window[axis]);
    strides.push_back(s.strides[axis]);
    pads.push_back({s.low[axis], s.high[axis]});
  }
  const std::int64_t c = s.in.back();
  shape.push_back(c);
  kernel.push_back(1);
  kernel.push_back(c);
  const Array<T> from = reshape_to("avg_pool", x, Shape(shape));
  const ConvRef spec = conv_spec("avg_pool", from.shape(), kernel, strides, pads, {}, {}, c);
  return reshape_to("avg_pool", conv_forward(spec, from, ones<T>(Shape(kernel))), Shape(out));
}

}  // namespace detail

namespace nn {

// The largest (smallest) elements of windows, of real types. A gradient goes to the first of equal ones.
// Windows that lie in the padding altogether give -inf (inf), or the type's end. x (N, spatial..., C) gives
// (N, out..., C). Throws ShapeError if the input has too few axes for the window, and ValueError for invalid
// strides or padding.
template <nax::detail::ArrayLike X>
auto max_pool(const X& x, const Shape& window_shape, const PoolOptions& options = {}) {
  using T = typename X::value_type;
  return nax::detail::extreme_pool("max_pool", x, window_shape, options,
                                   nax::detail::extreme_of<T, cpu::reduce_op::Max>(), true);
}
// The smallest element of each window. x (N, spatial..., C) gives (N, out..., C). Throws ShapeError if the
// input has too few axes for the window, and ValueError for invalid strides or padding.
template <nax::detail::ArrayLike X>
auto min_pool(const X& x, const Shape& window_shape, const PoolOptions& options = {}) {
  using T = typename X::value_type;
  return nax::detail::extreme_pool("min_pool", x, window_shape, options,
                                   nax::detail::extreme_of<T, cpu::reduce_op::Min>(), false);
}

// The means of windows over one to three spatial axes; floating types. x (N, spatial..., C) gives (N, out...,
// C). Throws ShapeError if the input has too few axes for the window, and ValueError for invalid strides or
// padding.
template <nax::detail::ArrayLike X>
auto avg_pool(const X& x_, const Shape& window_shape, const AvgPoolOptions& options = {}) {
  using namespace nax::detail;
  using R = inexact_t<typename X::value_type>;
  static_assert(!is_complex_v<R>, "avg_pool: complex types are not supported");
  using T = conv_t<R>;
  const Array<T> x = as_type<T>(x_);
  check_operand("avg_pool", x);
  const std::size_t spatial = window_shape.size();
  if (spatial > 3) raise<ShapeError>({"avg_pool: at most three spatial axes, window ", window_shape});
  const WindowSpec s = pool_spec("avg_pool", x.shape(), window_shape, options.strides, options.padding);
  const ComputeOn beside_x(x);
  const Array<T> sums = window_sums(x, s, spatial);
  const auto typed = [](const Array<T>& y) {
    if constexpr (std::is_same_v<T, R>)
      return y;
    else
      return y.template astype<R>();
  };
  if (!options.count_include_pad) {
    WindowSpec one = s;
    for (std::size_t axis = 0; axis + spatial + 1 < s.in.size(); ++axis) one.in[axis] = one.out[axis] = 1;
    one.in[one.in.size() - 1] = one.out[one.out.size() - 1] = 1;
    return typed(sums / window_sums(ones<T>(Shape(one.in)), one, spatial));
  }
  std::int64_t count = 1;
  for (const std::int64_t n : window_shape) count *= n;
  return typed(sums * static_cast<T>(1.0 / static_cast<double>(count)));
}

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE WindowSpec pool_spec(const char* function, const Shape& x, const Shape& window,
                                const Shape& strides, const lax::Padding& padding) {
  const std::size_t spatial = window.size();
  if (spatial == 0 || x.size() < spatial + 1)
    raise<ShapeError>({function, ": an input of shape ", x, " has no window ", window,
                       " before its last axis, the channels"});
  const std::size_t batch = x.size() - spatial - 1;
  const Dims steps = each_axis(function, "strides", strides, spatial);
  each_axis(function, "window_shape", window, spatial);
  Dims in;
  for (std::size_t axis = 0; axis < spatial; ++axis) in.push_back(x[batch + axis]);
  const auto inner = padding.over(function, in, window, steps);
  Dims all_window(batch, 1), all_steps(batch, 1);
  std::vector<lax::Padding::Pair> pads(batch, {0, 0});
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    all_window.push_back(window[axis]);
    all_steps.push_back(steps[axis]);
    pads.push_back(inner[axis]);
  }
  all_window.push_back(1);  // the channels
  all_steps.push_back(1);
  pads.push_back({0, 0});
  return window_spec(function, x, all_window, all_steps, pads, {}, {});
}

}  // namespace detail
NAX_END
#endif
