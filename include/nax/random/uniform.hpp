#pragma once

#include <cmath>

#include "nax/random/bits.hpp"
#include "nax/rules/unit_interval.hpp"

NAX_BEGIN
namespace random {
struct UniformOptions {
  double minval = 0, maxval = 1;
};
// Uniform in [minval, maxval), of shape `shape`. Throws ValueError for more than one key.
template <class T = float>
requires is_floating_v<T> Array<T> uniform(const Key& key, const Shape& shape = {},
                                           const UniformOptions& options = {}) {
  using C = detail::compute_t<T>;
  return detail::draw<detail::DrawKind::uniform, T>(
      "uniform", key, shape, {.low = C(T(options.minval)), .high = C(T(options.maxval))});
}
// Takes the bounds as JAX does, by place.
template <class T = float>
requires is_floating_v<T> Array<T> uniform(const Key& key, const Shape& shape, double minval, double maxval) {
  return uniform<T>(key, shape, UniformOptions{.minval = minval, .maxval = maxval});
}
}  // namespace random
NAX_END
