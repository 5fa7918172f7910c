#pragma once

#include "nax/nn/batch_norm.hpp"
#include "nax/nn/normalization.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/tree/static.hpp"

// Normalisations with learned scale and bias, initially 1 and 0.
NAX_BEGIN
namespace nn {

struct NormOptions {
  std::int64_t features = 0;
  double epsilon = 1e-5;
};
// layer_norm along the last axis.
template <class T = float>
struct LayerNorm {
  Array<T> scale, bias;  // (features,)
  tree::Static<double> epsilon = 1e-5;

  static LayerNorm make(const NormOptions& options) {
    return {ones<T>({options.features}), zeros<T>({options.features}), options.epsilon};
  }
  Array<T> operator()(const Array<T>& x) const { return layer_norm(x, scale, bias, {.epsilon = *epsilon}); }
};
// rms_norm along the last axis.
template <class T = float>
struct RMSNorm {
  Array<T> scale;  // (features,)
  tree::Static<double> epsilon = 1e-5;

  static RMSNorm make(const NormOptions& options) { return {ones<T>({options.features}), options.epsilon}; }
  Array<T> operator()(const Array<T>& x) const { return rms_norm(x, scale, {.epsilon = *epsilon}); }
};

struct GroupNormModuleOptions {
  std::int64_t features = 0, groups = 32;
  double epsilon = 1e-5;
};
// group_norm of x (N, ..., features).
template <class T = float>
struct GroupNorm {
  Array<T> scale, bias;  // (features,)
  tree::Static<std::int64_t> groups = 32;
  tree::Static<double> epsilon = 1e-5;

  static GroupNorm make(const GroupNormModuleOptions& options) {
    return {ones<T>({options.features}), zeros<T>({options.features}), options.groups, options.epsilon};
  }
  Array<T> operator()(const Array<T>& x) const {
    return group_norm(x, scale, bias, {.num_groups = *groups, .epsilon = *epsilon});
  }
};

// instance_norm of x (N, ..., features).
template <class T = float>
struct InstanceNorm {
  Array<T> scale, bias;  // (features,)
  tree::Static<double> epsilon = 1e-5;

  static InstanceNorm make(const NormOptions& options) {
    return {ones<T>({options.features}), zeros<T>({options.features}), options.epsilon};
  }
  Array<T> operator()(const Array<T>& x) const {
    return instance_norm(x, scale, bias, {.epsilon = *epsilon});
  }
};

// batch_norm of x (..., features). The running mean and variance are no parameters: they go in and come out.
//
//   auto stats = norm.stats();
//   auto [y, next] = norm(x, stats);                             // training
//   Array<float> z = norm(x, stats, {.use_running_average = true}).first;
template <class T = float>
struct BatchNorm {
  Array<T> scale, bias;  // (features,)

  static BatchNorm make(std::int64_t features) { return {ones<T>({features}), zeros<T>({features})}; }
  // The statistics before the first step: mean 0, variance 1.
  BatchStats<T> stats() const { return {zeros<T>(scale.shape()), ones<T>(scale.shape())}; }
  std::pair<Array<T>, BatchStats<T>> operator()(const Array<T>& x, const BatchStats<T>& stats,
                                                const BatchNormOptions& options = {}) const {
    return batch_norm(x, scale, bias, stats, options);
  }
};

}  // namespace nn
NAX_END
