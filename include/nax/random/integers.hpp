#pragma once

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "nax/random/uniform.hpp"

NAX_BEGIN
namespace random {
namespace detail {

// Integers are made from two draws of as many bits as they have, so that the bias of the remainder is small.
template <class U>
struct Range {
  U span, multiplier;  // 2^bits modulo the span; a span of 0 stands for all of the type

  constexpr explicit Range(U s) : span(s), multiplier(remainder(U(1) << (sizeof(U) * 4))) {
    multiplier = remainder(multiplier * multiplier);
  }
  constexpr U remainder(U x) const { return span == 0 ? x : x % span; }
  constexpr U offset(U higher, U lower) const {
    return remainder(remainder(higher) * multiplier + remainder(lower));
  }
};

// How many numbers the range has: 1 where it is empty, and `maxval` may be one past what the type holds.
template <class T, class A, class B>
constexpr std::make_unsigned_t<T> span_of(A minval, B maxval, T& low) {
  using U = std::make_unsigned_t<T>;
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  low = std::cmp_less(minval, least) ? least : std::cmp_greater(minval, most) ? most : static_cast<T>(minval);
  const bool beyond = std::cmp_greater(maxval, most);
  const T high = std::cmp_less(maxval, least) ? least : beyond ? most : static_cast<T>(maxval);
  if (high <= low) return 1;
  return static_cast<U>(static_cast<U>(high) - static_cast<U>(low) + (beyond ? 1 : 0));
}

// Elementwise: an integer in [least, most), of two draws of bits.
template <class T>
struct IntegerBetween {
  static constexpr const char* name = "randint";
  static constexpr bool linear = false, hands_on = false, differentiable = false, masks = false,
                        symbolic = false;
  template <int i, class... X>
  using operand = std::tuple_element_t<i, std::tuple<X...>>;
  template <class...>
  using result = T;
  template <class B, class U>
  static constexpr T value(B least, B most, U higher, U lower) {
    T low = 0;
    const Range<U> range(span_of<T>(least, most, low));
    return static_cast<T>(static_cast<U>(low) + range.offset(higher, lower));
  }
};

// Types of 8 and 16 bits are drawn as int32.
template <class T>
using sampled_t = std::conditional_t<sizeof(T) < 4, std::int32_t, T>;

}  // namespace detail

// Integers of shape `shape` in [minval, maxval); minval where that is empty. Throws ShapeError if the bounds
// do not broadcast to `shape`, and ValueError for more than one key.
template <class T = std::int32_t, std::integral A, std::integral B>
requires is_integer_v<T> Array<T> randint(const Key& key, const Shape& shape, A minval, B maxval) {
  using S = detail::sampled_t<T>;
  S low;
  std::make_unsigned_t<S> span;
  if constexpr (sizeof(T) < 4) {
    T least;
    span = static_cast<std::make_unsigned_t<S>>(detail::span_of<T>(minval, maxval, least));
    low = least;
    if (span == 0) span = std::uint32_t{1} << (sizeof(T) * 8);  // all of the type
  } else {
    span = detail::span_of<T>(minval, maxval, low);
  }
  using U = std::make_unsigned_t<S>;
  const detail::Range<U> range(span);
  return detail::draw<detail::DrawKind::integers, T>(
      "randint", key, shape,
      {.offset = static_cast<U>(low), .span = range.span, .multiplier = range.multiplier});
}

// With bounds that broadcast to the shape.
template <class T = std::int32_t, class B>
requires is_integer_v<T> &&(sizeof(T) >= 4) && is_integer_v<B> Array<T> randint(const Key& key,
                                                                                const Shape& shape,
                                                                                const Array<B>& minval,
                                                                                const Array<B>& maxval) {
  using namespace nax::detail;
  using U = std::make_unsigned_t<T>;
  const ComputeOn beside_bounds(device_for("randint", minval, maxval));
  const auto [k1, k2] = split(key);
  const Array<U> higher = bits<U>(k1, shape), lower = bits<U>(k2, shape);
  const Frame frame =
      broadcast("randint", layout_of(higher), broadcast("randint", layout_of(minval), layout_of(maxval)));
  if (frame.visible_shape() != shape)
    raise<ShapeError>({"randint: the bounds do not broadcast to the shape: ", minval.shape(), " and ",
                       maxval.shape(), " for ", shape});
  return evaluate(make_expr<detail::IntegerBetween<T>>(minval, maxval, higher, lower));
}

// True with probability p, of shape `shape` or that of p. Throws ShapeError if `p` does not broadcast to
// `shape`, and ValueError for more than one key.
inline Array<bool> bernoulli(const Key& key, double p = 0.5, const Shape& shape = {}) {
  return detail::draw<detail::DrawKind::bernoulli, bool>("bernoulli", key, shape,
                                                         {.high = static_cast<float>(p)});
}
template <class T>
requires is_floating_v<T> Array<bool> bernoulli(const Key& key, const Array<T>& p, const Shape& shape) {
  using namespace nax::detail;
  const ComputeOn beside_p(p);
  const Array<T> u = uniform<T>(key, shape);
  const Frame frame = broadcast("bernoulli", layout_of(u), layout_of(p));
  if (frame.visible_shape() != shape)
    raise<ShapeError>({"bernoulli: p of shape ", p.shape(), " does not broadcast to the shape ", shape});
  return evaluate(make_expr<rules::less>(u, p));
}
template <class T>
requires is_floating_v<T> Array<bool> bernoulli(const Key& key, const Array<T>& p) {
  return bernoulli(key, p, p.shape());
}

// 1 or -1, each with probability 1/2, of shape `shape`. Throws ValueError for more than one key.
template <class T = std::int32_t>
Array<T> rademacher(const Key& key, const Shape& shape = {}) {
  return detail::draw<detail::DrawKind::rademacher, T>("rademacher", key, shape);
}

}  // namespace random
NAX_END
