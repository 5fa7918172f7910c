#pragma once

#include "nax/nn/resampling.hpp"
#include "nax/tree/static.hpp"

// Modules without parameters that change spatial axes: their options are parts of a model's structure.
NAX_BEGIN
namespace nn {

// upsample by these factors: `Upsample{.factors = Shape{2, 2}}`.
struct Upsample {
  tree::Static<Shape> factors = {};
  tree::Static<UpsampleOptions> options = {};

  template <class T>
  Array<T> operator()(const Array<T>& x) const {
    return upsample(x, *factors, *options);
  }
};
// pixel_shuffle by this factor.
struct PixelShuffle {
  tree::Static<std::int64_t> factor = 2;

  template <class T>
  Array<T> operator()(const Array<T>& x) const {
    return pixel_shuffle(x, *factor);
  }
};
// adaptive_avg_pool to this size.
struct AdaptiveAvgPool {
  tree::Static<Shape> size = {};

  template <class T>
  Array<T> operator()(const Array<T>& x) const {
    return adaptive_avg_pool(x, *size);
  }
};
// adaptive_max_pool to this size.
struct AdaptiveMaxPool {
  tree::Static<Shape> size = {};

  template <class T>
  Array<T> operator()(const Array<T>& x) const {
    return adaptive_max_pool(x, *size);
  }
};

}  // namespace nn
NAX_END
