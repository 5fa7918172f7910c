#pragma once

#include <limits>
#include <optional>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/rules/floating.hpp"

// Sign, exponent and neighbours of floating-point numbers.
NAX_BEGIN

// clang-format off
// Whether the sign is negative, of -0.0 too.
template <class X> requires Function<X> auto signbit(X&& x) { return detail::apply<rules::signbit>(std::forward<X>(x)); }
// The size of x with the sign of y.
template <class X, class Y> requires Function<X, Y> auto copysign(X&& x, Y&& y) { return detail::apply<rules::copysign>(std::forward<X>(x), std::forward<Y>(y)); }
// 0 below 0, h at 0, 1 above.
template <class X, class Y> requires Function<X, Y> auto heaviside(X&& x, Y&& y) { return detail::apply<rules::heaviside>(std::forward<X>(x), std::forward<Y>(y)); }
// x * 2^n
template <class X, class N> requires Function<X, N> auto ldexp(X&& x, N&& n) { return detail::apply<rules::ldexp>(std::forward<X>(x), std::forward<N>(n)); }
// clang-format on

struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf{};  // the largest finite number
  std::optional<double> neginf{};  // the smallest
};
// x with other numbers for NaN and the infinities.
template <class X>
requires Function<X>
auto nan_to_num(X&& x, NanToNumOptions options = {}) {
  using T = detail::operand_type_t<X>;
  if constexpr (is_inexact_v<T>) {
    const auto most = static_cast<double>(std::numeric_limits<real_t<T>>::max());
    return detail::apply<rules::nan_to_num>(std::forward<X>(x), options.nan, options.posinf.value_or(most),
                                            options.neginf.value_or(-most));
  } else {
    return detail::apply<rules::nan_to_num>(std::forward<X>(x), T(0), T(0), T(0));
  }
}

NAX_END
