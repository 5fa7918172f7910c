#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/random/parameters.hpp"

// Distributions of counts: JAX's draws. They have no derivatives. Parameters broadcast to the shape (else
// ShapeError), which is theirs when none is given.
NAX_BEGIN
namespace random {
namespace detail {

template <class R>
Array<R> draw_binomials(const char* function, const Key& key, const Array<R>& n, const Array<R>& p,
                        const Shape& shape) {
  check_parameters(function, shape, n, p);
  if constexpr (!std::is_same_v<R, float> && !std::is_same_v<R, double>) {
    return draw_binomials<float>(function, key, as_type<float>(n), as_type<float>(p), shape)
        .template astype<R>();
  } else {
    return draw_sampled<Sampler::binomial, R>(function, key, shape, n, p);
  }
}

}  // namespace detail

// How often something happens that has this rate; -1 where the rate is negative or NaN. Of any integer type.
// (Rates count as float, as in JAX.). Of shape `shape`, or that of `rate`. Throws ShapeError if `rate` does
// not broadcast to `shape`, and ValueError for more than one key.
template <class T = std::int32_t, class L = Array<float>>
requires is_integer_v<T> Array<T> poisson(const Key& key, const L& rate_, const Shape& shape) {
  const Array<float> rate = detail::parameter<float>("poisson", rate_);
  detail::check_parameters("poisson", shape, rate);
  using I = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  return detail::draw_sampled<detail::Sampler::poisson, I>("poisson", key, shape, rate).template astype<T>();
}

// How many of n trials succeed, each with probability p: whole numbers of a floating type. NaN where p is not
// in [0, 1] or n is negative. Of shape `shape`, or what n and p broadcast to. Throws ShapeError if n or p
// does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class N = Array<float>, class P = Array<float>>
auto binomial(const Key& key, const N& n, const P& p, const Shape& shape) {
  using R = detail::sample_t<T, N, P>;
  return detail::draw_binomials("binomial", key, detail::parameter<R>("binomial", n),
                                detail::parameter<R>("binomial", p), shape);
}

// How many trials it takes until one succeeds, 1 at least, each with probability p. Where that is more than
// the type holds, as for p = 0, the type's greatest number; 0 where p is not in [0, 1]. Of shape `shape`, or
// that of p. Throws ShapeError if p does not broadcast to `shape`, and ValueError for more than one key.
template <class T = std::int32_t, class P = Array<float>>
requires is_integer_v<T> Array<T> geometric(const Key& key, const P& p_, const Shape& shape) {
  using R = detail::sample_t<void, P>;
  const Array<R> p = nax::detail::typed<R>(detail::constant(detail::parameter<R>("geometric", p_)));
  detail::check_parameters("geometric", shape, p);
  const Array<R> drawn = uniform<R>(key, shape);
  const Array<R> u = nax::where(drawn == R(0), R(1), drawn);
  const Array<R> trials = nax::floor(nax::log(u) / nax::log1p(-p)) + R(1);
  const R limit = static_cast<R>(std::ldexp(1.0, std::numeric_limits<T>::digits));
  const Array<bool> counts = (p >= R(0)) & (p <= R(1)) & (trials < limit);
  const Array<T> number = nax::where(counts, trials, R(0)).template astype<T>();
  return nax::where(trials >= limit, std::numeric_limits<T>::max(), number);
}

// How n trials fall on the outcomes along the last axis of p, whose probabilities need not add up to 1.
// `shape` is that of the draw, last axis and all; n broadcasts to it without the last axis. Throws ShapeError
// unless `p` and the shape have an axis, or if n or p does not broadcast, and ValueError for more than one
// key.
template <class T = void, class N = Array<float>, class P = Array<float>>
auto multinomial(const Key& key, const N& n_, const P& p_, const Shape& shape) {
  using R = detail::sample_t<T, N, P>;
  const Array<R> p = nax::detail::typed<R>(detail::constant(detail::parameter<R>("multinomial", p_)));
  Array<R> rest = nax::detail::typed<R>(detail::constant(detail::parameter<R>("multinomial", n_)));
  if (p.ndim() == 0 || shape.empty())
    raise<ShapeError>(
        {"multinomial: p and the shape must have one axis at least, got ", p.shape(), " and ", shape});
  Shape outer = shape;
  outer.pop_back();
  detail::check_parameters("multinomial", shape, p);
  detail::check_parameters("multinomial", outer, rest);
  const std::int64_t outcomes = shape.back();
  const Array<R> all = nax::broadcast_to(p, shape);
  if (outcomes == 0) return all;
  // The probability of each outcome among those from it on.
  std::vector<Array<R>> remaining(static_cast<std::size_t>(outcomes));
  for (std::int64_t i = outcomes - 1; i >= 0; --i) {
    const Array<R> own = all(nax::ellipsis, i);
    remaining[static_cast<std::size_t>(i)] =
        i == outcomes - 1 ? own : Array<R>(remaining[static_cast<std::size_t>(i + 1)] + own);
  }
  const Key keys = split(key, Shape{outcomes});
  std::vector<Array<R>> counts;
  for (std::int64_t i = 0; i < outcomes; ++i) {
    const Array<R>& among = remaining[static_cast<std::size_t>(i)];
    const Array<R> own = all(nax::ellipsis, i);
    const Array<R> ratio =
        nax::minimum(nax::maximum(own / nax::where(among == R(0), R(1), among), R(0)), R(1));
    counts.push_back(detail::draw_binomials("multinomial", keys[i], rest, ratio, outer));
    rest = rest - counts.back();
  }
  return nax::stack(counts, {.axis = -1});
}
template <class T = void, class N = Array<float>, class P = Array<float>>
auto multinomial(const Key& key, const N& n, const P& p) {
  return multinomial<T>(key, n, p, detail::shape_of_parameter(p));
}

// clang-format off
template <class T = std::int32_t, class L = Array<float>> requires is_integer_v<T> Array<T> poisson(const Key& key, const L& rate) { return poisson<T>(key, rate, detail::shape_of_parameter(rate)); }
template <class T = void, class N = Array<float>, class P = Array<float>> auto binomial(const Key& key, const N& n, const P& p) { return binomial<T>(key, n, p, detail::joint_shape("binomial", n, p)); }
template <class T = std::int32_t, class P = Array<float>> requires is_integer_v<T> Array<T> geometric(const Key& key, const P& p) { return geometric<T>(key, p, detail::shape_of_parameter(p)); }
// clang-format on

}  // namespace random
NAX_END
