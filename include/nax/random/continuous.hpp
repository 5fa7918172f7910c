#pragma once

#include <algorithm>

#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/random/uniform.hpp"
#include "nax/rules/quantiles.hpp"
#include "nax/special/normal.hpp"

// Distributions that are a function of one uniform draw.
NAX_BEGIN
namespace random {
namespace detail {

template <class T>
inline constexpr compute_t<T> smallest_normal =
    static_cast<compute_t<T>>(std::numeric_limits<compute_t<T>>::min());
template <>
inline constexpr float smallest_normal<half> = 0x1p-14f;

// -1 and 1 without their ends: the largest number below 1 has a mantissa of ones.
template <class T>
inline constexpr compute_t<T> spacing_below_one = std::numeric_limits<compute_t<T>>::epsilon() / 2;
template <>
inline constexpr float spacing_below_one<half> = 0x1p-11f;
template <>
inline constexpr float spacing_below_one<bfloat16> = 0x1p-8f;

// The draw of `normal` from this key.
template <class T>
void fill_normal(std::uint64_t key, std::int64_t n, T* out) {
  cpu::DrawKernel<DrawKind::normal>::run<T>({.low = spacing_below_one<T> - 1, .high = 1}, key, 0, n, out);
}

// A function of uniform numbers in [low, high).
template <DrawKind kind, class T>
Array<T> draw_quantile(const char* function, const Key& key, const Shape& shape, compute_t<T> low,
                       compute_t<T> high) {
  return draw<kind, T>(function, key, shape, {.low = low, .high = high});
}

}  // namespace detail

// Draws of shape `shape`, mean 0 and standard deviation 1. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> normal(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::normal, T>("normal", key, shape,
                                                            detail::spacing_below_one<T> - 1, 1);
}

// -log(-log u), of shape `shape`. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> gumbel(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::gumbel, T>("gumbel", key, shape, detail::smallest_normal<T>,
                                                            1);
}

// Draws of shape `shape` and rate 1. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> exponential(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::exponential, T>("exponential", key, shape, 0, 1);
}

// Draws of shape `shape`, location 0 and scale 1. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> laplace(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::laplace, T>("laplace", key, shape,
                                                             detail::spacing_below_one<T> - 1, 1);
}
// Draws of the standard logistic distribution, of shape `shape`. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> logistic(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::logistic, T>("logistic", key, shape,
                                                              detail::smallest_normal<T>, 1);
}
// Draws of the standard Cauchy distribution, of shape `shape`. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> cauchy(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<detail::DrawKind::cauchy, T>("cauchy", key, shape,
                                                            2 * detail::spacing_below_one<T>, 1);
}

namespace detail {

// Normal draws above `lower`, which is far out: by the probabilities of more, of which rounding leaves all
// digits; beyond what these hold, as if x e^(-x^2 / 2) were the density.
template <class T>
Array<T> upper_tail(const Key& key, double lower, double upper, const Shape& shape) {
  using Real = nax::detail::where_used_t<Array<double>, T>;
  const Real u = uniform<T>(key, shape).template astype<double>();
  if (lower > 30) {
    const double part = -std::expm1((lower - upper) * (lower + upper) / 2);
    return Real(nax::sqrt(lower * lower - 2 * nax::log1p(u * -part))).template astype<T>();
  }
  constexpr double half_root = 0.70710678118654752440;
  const double most = std::erfc(lower * half_root) / 2, least = std::erfc(upper * half_root) / 2;
  return Real(-nax::special::ndtri(most - u * (most - least))).template astype<T>();
}

}  // namespace detail

// Normal draws of shape `shape`, strictly between lower and upper. For float and double. Throws ValueError
// unless `lower` is below `upper`, and for more than one key.
template <class T = float>
requires(std::is_same_v<T, float> ||
         std::is_same_v<T, double>) Array<T> truncated_normal(const Key& key, double lower, double upper,
                                                              const Shape& shape = {}) {
  const T low = static_cast<T>(lower), high = static_cast<T>(upper), sqrt2 = T(1.41421356237309504880);
  if (!(low < high))
    raise<ValueError>({"truncated_normal: lower must be below upper, got ", lower, " and ", upper});
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr double distant = 3;  // beyond, erf is too near to 1
  if (lower > distant || upper < -distant) {
    const Array<T> size = lower > distant ? detail::upper_tail<T>(key, lower, upper, shape)
                                          : Array<T>(-detail::upper_tail<T>(key, -upper, -lower, shape));
    return Array<T>(nax::clip(size, std::nextafter(low, infinity), std::nextafter(high, -infinity)));
  }
  // Distant bounds are those of `normal`, as erf has no digits beyond.
  constexpr T reach = std::is_same_v<T, float> ? T(5.419983) : T(8.292361075813595);
  return detail::draw<detail::DrawKind::clipped_normal, T>(
      "truncated_normal", key, shape,
      {.low = std::erf(low / sqrt2),
       .high = std::erf(high / sqrt2),
       .least = std::max(-reach, std::nextafter(low, infinity)),
       .most = std::min(reach, std::nextafter(high, -infinity))});
}

}  // namespace random
NAX_END
