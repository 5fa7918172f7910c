#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/views.hpp"

// Positions of a sequence's elements, as features, as rotations and as a bias of attention.
NAX_BEGIN
namespace detail {

// base^(-2 i / features) for the pairs i.
NAX_ENGINE std::vector<double> pair_frequencies(const char* function, std::int64_t features, double base);

}  // namespace detail

namespace nn {

struct SinusoidalOptions {
  double base = 10000;
  bool interleaved = true;  // sine and cosine of a frequency side by side; false: all sines, then all cosines
};
// sin(t f_i) and cos(t f_i) with f_i = base^(-2 i / features), for the positions t below `length`: (length,
// features) (Vaswani and others 2017). Throws ValueError for an odd number of features and a negative length.
template <Dtype T = float>
Array<T> sinusoidal_positions(std::int64_t length, std::int64_t features,
                              const SinusoidalOptions& options = {}) {
  if (length < 0) raise<ValueError>({"sinusoidal_positions: the length must not be negative, got ", length});
  const std::vector<double> f = nax::detail::pair_frequencies("sinusoidal_positions", features, options.base);
  const std::int64_t pairs = features / 2;
  std::vector<T> all(static_cast<std::size_t>(length * features));
  for (std::int64_t t = 0; t < length; ++t)
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(t) * f[static_cast<std::size_t>(i)];
      T* row = all.data() + t * features;
      row[options.interleaved ? 2 * i : i] = static_cast<T>(std::sin(angle));
      row[options.interleaved ? 2 * i + 1 : pairs + i] = static_cast<T>(std::cos(angle));
    }
  return asarray(all, {length, features});
}

struct RopeOptions {
  std::optional<Array<int>> positions = {};  // (T,) or (..., T); 0 to T - 1 when not given
  double base = 10000;
  bool interleaved = false;  // pairs lie side by side; false: element i and i + features / 2, as in Llama
  std::optional<std::int64_t> features = {};  // how many of the first are turned, H when not given
};
// Rotary positions: each pair of features of x (..., T, N, H) turned by its position times base^(-2 i / H)
// (Su and others 2021). For queries and keys of attention, whose logits then depend on distances alone. The
// result has the shape of x. Throws ShapeError for less than three axes, and ValueError where the number of
// features is odd or larger than H.
template <class T>
Array<T> apply_rope(const Array<T>& x, const RopeOptions& options = {}) {
  static_assert(is_floating_v<T>, "apply_rope: x must be of a floating type");
  nax::detail::check_operand("apply_rope", x);
  if (x.ndim() < 3) raise<ShapeError>({"apply_rope: x must be (..., T, N, H), shape ", x.shape()});
  const std::int64_t h = x.shape(-1), turned = options.features.value_or(h), pairs = turned / 2;
  if (turned > h) raise<ValueError>({"apply_rope: ", turned, " features of ", h});
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const nax::detail::ComputeOn beside_x(x);
  const Array<Real> frequencies =
      asarray(nax::detail::pair_frequencies("apply_rope", turned, options.base)).template astype<Real>();
  const Array<int> positions = options.positions.value_or(arange<int>(static_cast<int>(x.shape(-3))));
  // (..., T, 1, pairs)
  const Array<Real> angles = expand_dims(positions, {-1, -2}).template astype<Real>() * frequencies;
  const Array<T> c = cos(angles).template astype<T>(), s = sin(angles).template astype<T>();
  const Array<T> part = x(ellipsis, slice(0, turned));
  Shape split = x.shape();
  split.back() = pairs, split.push_back(2);
  const auto half = [&](std::int64_t i) -> Array<T> {
    if (options.interleaved) return part.reshape(split)(ellipsis, i);
    return part(ellipsis, slice(i * pairs, (i + 1) * pairs));
  };
  const Array<T> a = half(0), b = half(1), first = a * c - b * s, second = b * c + a * s;
  Shape whole = x.shape();
  whole.back() = turned;
  const Array<T> y = options.interleaved ? Array<T>(stack({first, second}, {.axis = -1}).reshape(whole))
                                         : Array<T>(concatenate({first, second}, {.axis = -1}));
  if (turned == h) return y;
  return concatenate({y, Array<T>(x(ellipsis, slice(turned, h)))}, {.axis = -1});
}

// The slopes of ALiBi for so many heads: 2^(-8 i / heads) for i = 1 to heads; between powers of two those of
// the lower one, then every other one of the higher. Shape (heads,). Throws ValueError below 1.
template <Dtype T = float>
Array<T> alibi_slopes(std::int64_t heads) {
  if (heads < 1) raise<ValueError>({"alibi_slopes: there must be a head, got ", heads});
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<T> all;
  const auto add = [&](std::int64_t of, std::int64_t step, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back(
          static_cast<T>(std::exp2(-8.0 * static_cast<double>(1 + i * step) / static_cast<double>(of))));
  };
  add(power, 1, power);
  add(2 * power, 2, heads - power);
  return asarray(all);
}
// The bias of attention with linear distances (Press and others 2021): minus the slope of the head times the
// distance of query and key, where the queries are the last ones of the keys. Shape (1, heads, queries,
// keys). Throws ValueError for no heads.
template <Dtype T = float>
Array<T> alibi_bias(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  const detail::where_used_t<Array<int>, T>
      rows = arange<int>(static_cast<int>(keys - queries), static_cast<int>(keys)).reshape({queries, 1}),
      columns = arange<int>(static_cast<int>(keys)), apart = minimum(rows - columns, columns - rows);
  return Array<T>(apart.template astype<T>() * alibi_slopes<T>(heads).reshape({1, heads, 1, 1}));
}

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<double> pair_frequencies(const char* function, std::int64_t features, double base) {
  if (features < 0 || features % 2 != 0)
    raise<ValueError>({function, ": the number of features must be even, got ", features});
  std::vector<double> all;
  for (std::int64_t i = 0; i < features; i += 2)
    all.push_back(std::pow(base, -static_cast<double>(i) / static_cast<double>(features)));
  return all;
}

}  // namespace detail
NAX_END
#endif
