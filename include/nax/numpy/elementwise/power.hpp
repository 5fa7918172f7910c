#pragma once

#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/rules/power.hpp"

// Powers and roots.
NAX_BEGIN

// x^y. An integer C++ exponent multiplies only: exact for integers, right for negative bases, with the
// derivative at 0. Throws ValueError for an integer to a negative integer exponent that is a C++ number; of
// two integer arrays such powers are truncated: 0 but for 1 and -1.
template <class X, class Y>
requires Function<X, Y>
auto power(X&& x, Y&& y) {
  using N = std::remove_cvref_t<Y>;
  if constexpr (AnyArray<X> && std::is_integral_v<N> && !std::is_same_v<N, bool>) {
    if constexpr (std::is_integral_v<typename std::remove_cvref_t<X>::value_type>)
      if (y < N(0)) throw ValueError("power: integers to negative integer powers are not allowed");
    return detail::apply<rules::integer_power>(std::forward<X>(x), y);
  } else {
    return detail::apply<rules::power>(std::forward<X>(x), std::forward<Y>(y));
  }
}
// clang-format off
// x to the power y. As power.
template <class X, class Y> requires Function<X, Y> auto pow(X&& x, Y&& y) { return nax::power(std::forward<X>(x), std::forward<Y>(y)); }
// x to the power y, computed in floating point; integers become float.
template <class X, class Y> requires Function<X, Y> auto float_power(X&& x, Y&& y) { return detail::apply<rules::float_power>(std::forward<X>(x), std::forward<Y>(y)); }
// The square root of each element; NaN below 0.
template <class X> requires Function<X> auto sqrt(X&& x) { return detail::apply<rules::sqrt>(std::forward<X>(x)); }
// The real cube root of each element.
template <class X> requires Function<X> auto cbrt(X&& x) { return detail::apply<rules::cbrt>(std::forward<X>(x)); }
// 1 / sqrt(x)
template <class X> requires Function<X> auto rsqrt(X&& x) { return detail::apply<rules::rsqrt>(std::forward<X>(x)); }
// clang-format on

namespace detail {

// The root of order p > 0 of sums of powers. Its derivatives are 0 where the sum is 0.
template <class T>
Array<T> root_of_sum(const Array<T>& sum, double p = 2) {
  const Array<T> zero(T(0));
  const auto none = make_expr<rules::equal>(sum, zero);
  const auto some = make_selection<rules::where>(none, Array<T>(T(1)), sum);
  if (p == 2) return evaluate(make_selection<rules::where>(none, zero, make_expr<rules::sqrt>(some)));
  const auto root = make_expr<rules::power>(some, Array<T>(static_cast<T>(1 / p)));
  return evaluate(make_selection<rules::where>(none, zero, root));
}

}  // namespace detail

// Overload for recorded values, which the derivative of integer powers calls.
template <class T>
Recorded<T> raised(const Recorded<T>& x, std::int64_t n) {
  return detail::apply<rules::integer_power>(x, n);
}

NAX_END
