#pragma once

#include <vector>

#include "nax/numpy/creation/creation.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/orthonormal.hpp"

// First values of weights, by the names and with the draws of jax.nn.initializers:
// initializers::glorot_uniform(key, {784, 512}).
NAX_BEGIN
namespace nn::initializers {

// Makes an array of zeros, of the shape `shape`; the key is not read.
template <class T = float>
Array<T> zeros(const random::Key&, const Shape& shape) {
  return nax::zeros<T>(shape);
}
// Makes an array of ones, of the shape `shape`; the key is not read.
template <class T = float>
Array<T> ones(const random::Key&, const Shape& shape) {
  return nax::ones<T>(shape);
}
struct ConstantOptions {
  double value = 0;
};
// Makes an array of the shape `shape`, filled with `value`; the key is not read.
template <class T = float>
Array<T> constant(const random::Key&, const Shape& shape, const ConstantOptions& options) {
  return full<T>(shape, static_cast<T>(options.value));
}

namespace detail {

template <class T>
Array<T> scaled(const Array<T>& draws, T scale) {
  return nax::detail::evaluate(nax::detail::make_expr<rules::multiply>(draws, Array<T>(scale)));
}

// Draws of half types are those of float.
template <class T>
Array<T> scaled_truncated_normal(const random::Key& key, double lower, double upper, const Shape& shape,
                                 double scale) {
  using L = nax::detail::lane_t<T>;
  return scaled(random::truncated_normal<L>(key, lower, upper, shape), static_cast<L>(scale))
      .template astype<T>();
}

}  // namespace detail

struct UniformOptions {
  double scale = 1e-2;
};
// Draws uniformly from [0, scale): an array of the shape `shape`.
template <class T = float>
Array<T> uniform(const random::Key& key, const Shape& shape, const UniformOptions& options = {}) {
  return detail::scaled(random::uniform<T>(key, shape), static_cast<T>(options.scale));
}

struct NormalOptions {
  double stddev = 1e-2;
};
// Draws normal numbers of mean 0 and deviation `stddev`: an array of the shape `shape`.
template <class T = float>
Array<T> normal(const random::Key& key, const Shape& shape, const NormalOptions& options = {}) {
  return detail::scaled(random::normal<T>(key, shape), static_cast<T>(options.stddev));
}

struct TruncatedNormalOptions {
  double stddev = 1e-2, lower = -2, upper = 2;  // the bounds in units before scaling
};
// Draws normal numbers between `lower` and `upper`, then multiplies them by `stddev`. The result has the
// shape `shape`.
template <class T = float>
Array<T> truncated_normal(const random::Key& key, const Shape& shape,
                          const TruncatedNormalOptions& options = {}) {
  return detail::scaled_truncated_normal<T>(key, options.lower, options.upper, shape, options.stddev);
}

enum class Mode { fan_in, fan_out, fan_avg };
enum class Distribution { uniform, normal, truncated_normal };

// Which axes of the weights are inputs and outputs; all others are the receptive field.
struct FanOptions {
  int in_axis = -2, out_axis = -1;
};

// Draws whose variance is scale / n, n being the number of inputs, of outputs, or their mean. The result has
// the shape `shape`. Throws ValueError for shapes of less than two axes.
template <class T = float>
Array<T> variance_scaling(const random::Key& key, const Shape& shape, double scale, Mode mode,
                          Distribution distribution, const FanOptions& options = {}) {
  const int ndim = static_cast<int>(shape.size());
  if (ndim < 2)
    raise<ValueError>(
        {"variance_scaling: the shape must have an axis of inputs and one of outputs, got ", shape});
  const auto extent = [&](int axis) {
    return static_cast<double>(
        shape[static_cast<std::size_t>(nax::detail::normalize_axis("variance_scaling", axis, ndim))]);
  };
  const double in = extent(options.in_axis), out = extent(options.out_axis);
  if (shape.count() == 0) return nax::zeros<T>(shape);
  const double field = static_cast<double>(shape.count()) / (in * out);
  const double fan = mode == Mode::fan_in    ? in * field
                     : mode == Mode::fan_out ? out * field
                                             : (in + out) * field / 2;
  using L = nax::detail::lane_t<T>;
  const L variance = static_cast<L>(scale / fan);
  if (distribution == Distribution::uniform)
    return detail::scaled(random::uniform<T>(key, shape, {.minval = -1, .maxval = 1}),
                          static_cast<T>(std::sqrt(3 * variance)));
  if (distribution == Distribution::normal)
    return detail::scaled(random::normal<T>(key, shape), static_cast<T>(std::sqrt(variance)));
  // Cutting off at two standard deviations makes them smaller: the divisor is what is left.
  return detail::scaled_truncated_normal<T>(key, -2, 2, shape, std::sqrt(variance) / L(0.87962566103423978));
}

// Draws uniform weights of variance 2 / (inputs + outputs), for tanh and sigmoid (Glorot and Bengio 2010).
// The result has the shape `shape`. Throws ValueError below two axes.
template <class T = float>
Array<T> glorot_uniform(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 1, Mode::fan_avg, Distribution::uniform, options);
}
// Draws truncated normal weights of variance 2 / (inputs + outputs). The result has the shape `shape`. Throws
// ValueError below two axes.
template <class T = float>
Array<T> glorot_normal(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 1, Mode::fan_avg, Distribution::truncated_normal, options);
}
// Draws uniform weights of variance 2 / inputs, for relu (He and others 2015). The result has the shape
// `shape`. Throws ValueError below two axes.
template <class T = float>
Array<T> he_uniform(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 2, Mode::fan_in, Distribution::uniform, options);
}
// Draws truncated normal weights of variance 2 / inputs, for relu. The result has the shape `shape`. Throws
// ValueError below two axes.
template <class T = float>
Array<T> he_normal(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 2, Mode::fan_in, Distribution::truncated_normal, options);
}
// Draws uniform weights of variance 1 / inputs, for selu (LeCun and others 1998). The result has the shape
// `shape`. Throws ValueError below two axes.
template <class T = float>
Array<T> lecun_uniform(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 1, Mode::fan_in, Distribution::uniform, options);
}
// Draws truncated normal weights of variance 1 / inputs, for selu. The result has the shape `shape`. Throws
// ValueError below two axes.
template <class T = float>
Array<T> lecun_normal(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return variance_scaling<T>(key, shape, 1, Mode::fan_in, Distribution::truncated_normal, options);
}
// As glorot_uniform.
template <class T = float>
Array<T> xavier_uniform(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return glorot_uniform<T>(key, shape, options);
}
// As glorot_normal.
template <class T = float>
Array<T> xavier_normal(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return glorot_normal<T>(key, shape, options);
}
// As he_uniform.
template <class T = float>
Array<T> kaiming_uniform(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return he_uniform<T>(key, shape, options);
}
// As he_normal.
template <class T = float>
Array<T> kaiming_normal(const random::Key& key, const Shape& shape, const FanOptions& options = {}) {
  return he_normal<T>(key, shape, options);
}

struct OrthogonalOptions {
  double scale = 1;
};
// Orthonormal rows or columns (whichever are fewer), all axes but the last taken as one: the Q of a normal
// matrix whose R has a positive diagonal. The result has the shape `shape`. Throws ValueError for a shape of
// less than two axes.
template <class T = float>
Array<T> orthogonal(const random::Key& key, const Shape& shape, const OrthogonalOptions& options = {}) {
  if (shape.size() < 2) raise<ValueError>({"orthogonal: the shape must have two axes at least, got ", shape});
  const auto fill = [&](std::uint64_t k, std::int64_t, std::int64_t size, T* out) {
    const std::int64_t outputs = shape[shape.size() - 1], inputs = size / outputs;
    const std::int64_t rows = std::max(outputs, inputs), columns = std::min(outputs, inputs);
    std::vector<T> draws(static_cast<std::size_t>(size));
    random::detail::fill_normal(k, size, draws.data());
    std::vector<double> q(draws.size());
    random::detail::orthonormal_columns(draws.data(), rows, columns, q.data());
    for (std::int64_t i = 0; i < inputs; ++i)
      for (std::int64_t o = 0; o < outputs; ++o)
        out[i * outputs + o] =
            static_cast<T>(options.scale * (inputs > outputs ? q[static_cast<std::size_t>(o * rows + i)]
                                                             : q[static_cast<std::size_t>(i * rows + o)]));
  };
  return random::detail::draw_whole<T>("orthogonal", key, shape, fill);
}

}  // namespace nn::initializers
NAX_END
