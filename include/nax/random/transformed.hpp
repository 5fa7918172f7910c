#pragma once

#include "nax/linalg/norm.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/integers.hpp"
#include "nax/random/parameters.hpp"

// Distributions that are a formula of uniform, normal or exponential draws: JAX's draws. Parameters broadcast
// to the shape (else ShapeError), which is theirs when none is given; the type of a draw is theirs, or the
// one asked for. Derivatives go to the parameters.
NAX_BEGIN
namespace random {

// The length of a vector of three standard normal numbers, of shape `shape`. Throws ValueError for more than
// one key.
template <class T = float>
requires is_floating_v<T> Array<T> maxwell(const Key& key, const Shape& shape = {}) {
  Shape vectors = shape;
  vectors.push_back(3);
  return nax::linalg::norm(normal<T>(key, vectors), {.axis = -1});
}

// loc + scale z, z a Maxwell number of either sign. `shape` comes before that of the parameters. Throws
// ValueError for more than one key.
template <class T = void, class L = Array<float>, class S = Array<float>>
auto double_sided_maxwell(const Key& key, const L& loc_, const S& scale_, const Shape& shape = {}) {
  using R = detail::sample_t<T, L, S>;
  const Array<R> loc = detail::parameter<R>("double_sided_maxwell", loc_),
                 scale = detail::parameter<R>("double_sided_maxwell", scale_);
  Shape full = shape;
  for (std::int64_t n : detail::joint_shape("double_sided_maxwell", loc, scale)) full.push_back(n);
  const auto [key_size, key_sign] = split(key);
  return Array<R>(detail::signs<R>(key_sign, full) * maxwell<R>(key_size, full) * scale + loc);
}

// Density proportional to x^(c - 1) exp(-(x / scale)^c), c being the concentration. Of shape `shape`, or what
// the parameters broadcast to. Throws ShapeError if one does not broadcast to `shape`, and ValueError for
// more than one key.
template <class T = void, class S = Array<float>, class C = Array<float>>
auto weibull_min(const Key& key, const S& scale_, const C& concentration_, const Shape& shape) {
  using R = detail::sample_t<T, S, C>;
  const Array<R> scale = detail::parameter<R>("weibull_min", scale_),
                 concentration = detail::parameter<R>("weibull_min", concentration_);
  detail::check_parameters("weibull_min", shape, scale, concentration);
  const Array<R> e = -nax::log1p(-uniform<R>(key, shape));
  return Array<R>(nax::power(e, R(1) / concentration) * scale);
}

// Density b / x^(b + 1) from 1 on. Of shape `shape`, or that of b. Throws ShapeError if b does not broadcast
// to `shape`, and ValueError for more than one key.
template <class T = void, class B = Array<float>>
auto pareto(const Key& key, const B& b_, const Shape& shape) {
  using R = detail::sample_t<T, B>;
  const Array<R> b = detail::parameter<R>("pareto", b_);
  detail::check_parameters("pareto", shape, b);
  return Array<R>(nax::exp(exponential<R>(key, shape) / b));
}

// Density x / scale^2 exp(-x^2 / (2 scale^2)). Of shape `shape`, or that of `scale`. Throws ShapeError if
// `scale` does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class S = Array<float>>
auto rayleigh(const Key& key, const S& scale_, const Shape& shape) {
  using R = detail::sample_t<T, S>;
  const Array<R> scale = detail::parameter<R>("rayleigh", scale_);
  detail::check_parameters("rayleigh", shape, scale);
  return Array<R>(scale * nax::sqrt(nax::log(uniform<R>(key, shape)) * R(-2)));
}

// The inverse Gaussian distribution of this mean, shape parameter 1. Of shape `shape`, or that of `mean`.
// Throws ShapeError if `mean` does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class M = Array<float>>
auto wald(const Key& key, const M& mean_, const Shape& shape) {
  using R = detail::sample_t<T, M>;
  const Array<R> mean = detail::parameter<R>("wald", mean_);
  detail::check_parameters("wald", shape, mean);
  const auto [key_normal, key_uniform] = split(key);
  const Array<R> y = nax::square(normal<R>(key_normal, shape)), z = uniform<R>(key_uniform, shape);
  // The roots mean / w and mean * w of the quadratic equation that a draw solves: no difference is taken.
  const Array<R> half = mean * y / R(2);
  const Array<R> w = R(1) + half + nax::sqrt(half) * nax::sqrt(R(2) + half);
  return Array<R>(nax::where(z <= w / (R(1) + w), mean / w, mean * w));
}

// Density rising from left to mode and falling to right. Of shape `shape`, or what the parameters broadcast
// to. Throws ShapeError if one does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class L = Array<float>, class M = Array<float>, class H = Array<float>>
auto triangular(const Key& key, const L& left_, const M& mode_, const H& right_, const Shape& shape) {
  using R = detail::sample_t<T, L, M, H>;
  const Array<R> left = detail::parameter<R>("triangular", left_),
                 mode = detail::parameter<R>("triangular", mode_),
                 right = detail::parameter<R>("triangular", right_);
  detail::check_parameters("triangular", shape, left, mode, right);
  const Array<R> u = uniform<R>(key, shape), rise = left + nax::sqrt(u * (right - left) * (mode - left)),
                 fall = right - nax::sqrt((R(1) - u) * (right - left) * (right - mode));
  return Array<R>(nax::where(u < (mode - left) / (right - left), rise, fall));
}

// exp(sigma z), z standard normal. Of shape `shape`, or that of `sigma`. Throws ShapeError if `sigma` does
// not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class S = Array<float>>
auto lognormal(const Key& key, const S& sigma_, const Shape& shape) {
  using R = detail::sample_t<T, S>;
  const Array<R> sigma = detail::parameter<R>("lognormal", sigma_);
  detail::check_parameters("lognormal", shape, sigma);
  return Array<R>(nax::exp(normal<R>(key, shape) * sigma));
}

// clang-format off
template <class T = void, class S = Array<float>, class C = Array<float>> auto weibull_min(const Key& key, const S& scale, const C& concentration) { return weibull_min<T>(key, scale, concentration, detail::joint_shape("weibull_min", scale, concentration)); }
template <class T = void, class B = Array<float>> auto pareto(const Key& key, const B& b) { return pareto<T>(key, b, detail::shape_of_parameter(b)); }
template <class T = void, class S = Array<float>> auto rayleigh(const Key& key, const S& scale) { return rayleigh<T>(key, scale, detail::shape_of_parameter(scale)); }
template <class T = void, class M = Array<float>> auto wald(const Key& key, const M& mean) { return wald<T>(key, mean, detail::shape_of_parameter(mean)); }
template <class T = void, class L = Array<float>, class M = Array<float>, class H = Array<float>> auto triangular(const Key& key, const L& left, const M& mode, const H& right) { return triangular<T>(key, left, mode, right, detail::joint_shape("triangular", left, mode, right)); }
template <class T = void, class S = Array<float>> auto lognormal(const Key& key, const S& sigma) { return lognormal<T>(key, sigma, detail::shape_of_parameter(sigma)); }
template <class T = float> auto lognormal(const Key& key) { return lognormal<T>(key, T(1), Shape{}); }
// clang-format on

}  // namespace random
NAX_END
