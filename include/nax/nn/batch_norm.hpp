#pragma once

#include <utility>
#include <vector>

#include "nax/nn/normalization.hpp"
#include "nax/nn/rms_norm_rows.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/transform/checkpoint.hpp"

// Normalisations over a batch, over groups of channels, and by the root of the mean square.
NAX_BEGIN
namespace nn {

// Running statistics that batch_norm takes and returns.
template <class T>
struct BatchStats {
  Array<T> mean, var;  // (C,)
};
struct BatchNormOptions {
  bool use_running_average =
      false;                // normalise by what was kept, as in use; else by the batch, as in training
  double momentum = 0.99;   // weight of the running statistics, Flax's; PyTorch's momentum 0.1 is 0.9 here
  double epsilon = 1e-5;    // PyTorch's and Flax's
  AxisName axis_name = {};  // a mapped axis whose batches are normalised together
};

// {y, stats}: x (..., C) with mean 0 and variance 1 for each channel, times scale, plus bias (C,). The kept
// mean and variance move by 1 - momentum towards the batch's (the variance is the biased one, as in flax); no
// gradient passes through them. y has the shape of x. Throws ShapeError unless scale and bias have a number
// for each channel.
template <class T>
std::pair<Array<T>, BatchStats<T>> batch_norm(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                                              const BatchStats<T>& stats,
                                              const BatchNormOptions& options = {}) {
  using L = nax::detail::lane_t<T>;
  if constexpr (!std::is_same_v<L, T>) {
    const auto wide = [](const Array<T>& v) { return v.template astype<L>(); };
    const auto [y, next] = batch_norm(wide(x), wide(scale), wide(bias),
                                      BatchStats<L>{wide(stats.mean), wide(stats.var)}, options);
    return {y.template astype<T>(), {next.mean.template astype<T>(), next.var.template astype<T>()}};
  } else {
    detail::check_operand("batch_norm", x);
    if (x.ndim() < 1 || scale.ndim() != 1 || !(scale.shape() == bias.shape()) ||
        scale.shape(0) != x.shape(-1))
      raise<ShapeError>({"batch_norm: scale and bias must have one number for each channel: shapes ",
                         x.shape(), ", ", scale.shape(), ", ", bias.shape()});
    if (options.use_running_average)
      return {(x - stats.mean) * (rsqrt(stats.var + static_cast<T>(options.epsilon)) * scale) + bias, stats};
    const Array<T> rows = x.reshape({x.size() / std::max<std::int64_t>(x.shape(-1), 1), x.shape(-1)});
    Array<T> mean = nax::mean(rows, {.axis = 0}), var;
    if (options.axis_name.empty()) {
      var = nax::mean(square(rows - mean), {.axis = 0});
    } else {
      mean = pmean(mean, options.axis_name);
      var = pmean(Array<T>(nax::mean(square(rows - mean), {.axis = 0})), options.axis_name);
    }
    const Array<T> y = (x - mean) * (rsqrt(var + static_cast<T>(options.epsilon)) * scale) + bias;
    const T kept = static_cast<T>(options.momentum), fresh = static_cast<T>(1 - options.momentum);
    return {y,
            {stats.mean * kept + stop_gradient(mean) * fresh, stats.var * kept + stop_gradient(var) * fresh}};
  }
}

struct GroupNormOptions {
  std::int64_t num_groups = 32;
  double epsilon = 1e-6;  // Flax's; PyTorch has 1e-5
};
// x (N, ..., C): each example's channels in groups, each of mean 0 and variance 1 over its channels and all
// axes between; times scale, plus bias (C,). The result has the shape of x. Throws ValueError where the
// groups do not divide C.
template <class T>
Array<T> group_norm(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                    const GroupNormOptions& options = {}) {
  detail::check_operand("group_norm", x);
  const std::int64_t groups = options.num_groups;
  if (x.ndim() < 2) raise<ShapeError>({"group_norm: x must be (N, ..., C), shape ", x.shape()});
  const std::int64_t c = x.shape(-1);
  if (groups < 1 || c % groups != 0)
    raise<ValueError>({"group_norm: num_groups ", groups, " does not divide the ", c, " channels"});
  const std::int64_t between = x.shape(0) * c == 0 ? 0 : x.size() / (x.shape(0) * c);
  const Array<T> parts = x.reshape({x.shape(0), between, groups, c / groups});
  return nax::detail::in_lanes<T>(
      [&](const auto& wide, const auto& by, const auto& plus) {
        const auto y = standardize(wide, {.axis = {1, 3}, .epsilon = options.epsilon});
        return nax::detail::evaluate(y.reshape(x.shape()) * by + plus);
      },
      parts, scale, bias);
}

struct InstanceNormOptions {
  double epsilon = 1e-5;  // PyTorch's; Flax has 1e-6
};
// x (N, ..., C): each channel of each example with mean 0 and variance 1 over the axes between; times scale,
// plus bias (C,). The result has the shape of x. Throws ShapeError for less than three axes.
template <class T>
Array<T> instance_norm(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                       const InstanceNormOptions& options = {}) {
  detail::check_operand("instance_norm", x);
  if (x.ndim() < 3) raise<ShapeError>({"instance_norm: x must be (N, ..., C), shape ", x.shape()});
  std::vector<int> between;
  for (int axis = 1; axis + 1 < x.ndim(); ++axis) between.push_back(axis);
  return nax::detail::in_lanes<T>(
      [&](const auto& wide, const auto& by, const auto& plus) {
        return nax::detail::evaluate(
            standardize(wide, {.axis = Axis(between), .epsilon = options.epsilon}) * by + plus);
      },
      x, scale, bias);
}

struct RmsNormOptions {
  Axis axis = -1;
  double epsilon = 1e-6;  // Flax's; PyTorch has the type's own, 1.19e-7 for float
};
// x / sqrt(mean(x^2) + epsilon) along `axis`, times scale. The result has the shape of x. Throws IndexError
// if an axis is out of bounds, and ValueError if one repeats.
template <class T>
Array<T> rms_norm(const Array<T>& x, const Array<T>& scale, const RmsNormOptions& options = {}) {
  if constexpr (nax::detail::may_have_rows<T>) {
    const AxisMarks visible = nax::detail::marked_axes("rms_norm", options.axis, x.ndim());
    const std::int64_t n = nax::detail::RowCount(nax::detail::layout_of(x), visible).length;
    if (nax::detail::standardizes_rows(x, visible) && nax::detail::is_plain_row(scale, n, visible)) {
      nax::detail::check_reducible("rms_norm", x);
      return nax::detail::rms_norm_rows(x, scale, visible, options.epsilon);
    }
  }
  if constexpr (!std::is_same_v<nax::detail::lane_t<T>, T>) {
    return nax::detail::in_lanes<T>(
        [&](const auto& wide, const auto& by) { return rms_norm(wide, by, options); }, x, scale);
  } else {
    return x *
           rsqrt(mean(square(x), {.axis = options.axis, .keepdims = true}) +
                 static_cast<T>(options.epsilon)) *
           scale;
  }
}

}  // namespace nn
NAX_END
