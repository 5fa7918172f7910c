#pragma once

#include <limits>

#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/cast.hpp"
#include "nax/rules/rounding.hpp"

// NumPy's rounding. Integers stay as they are; derivatives are 0.
NAX_BEGIN

// clang-format off
// The greatest integer at or below each element, in the type of x.
template <class X> requires Function<X> auto floor(X&& x) { return detail::apply<rules::floor>(std::forward<X>(x)); }
// The least integer at or above each element, in the type of x.
template <class X> requires Function<X> auto ceil(X&& x) { return detail::apply<rules::ceil>(std::forward<X>(x)); }
// Rounds towards 0, in the type of x.
template <class X> requires Function<X> auto trunc(X&& x) { return detail::apply<rules::trunc>(std::forward<X>(x)); }
// Rounds towards 0. As trunc.
template <class X> requires Function<X> auto fix(X&& x) { return detail::apply<rules::trunc>(std::forward<X>(x)); }
// To the nearest whole number, halves to the even one.
template <class X> requires Function<X> auto rint(X&& x) { return detail::apply<rules::rint>(std::forward<X>(x)); }
// Rounds to a number of decimals, ties to even.
template <class X> requires Function<X> auto round(X&& x) { return detail::apply<rules::rint>(std::forward<X>(x)); }
// clang-format on

struct RoundOptions {
  int decimals = 0;  // negative: to tens, hundreds, ... for integers, too
};
template <class X>
requires Function<X>
auto round(X&& x, RoundOptions options) {
  double up = 1, down = 1;
  for (int i = 0; i < options.decimals; ++i) up *= 10;
  for (int i = 0; i > options.decimals; --i) down *= 10;
  using T = detail::operand_type_t<X>;
  if constexpr (std::is_integral_v<T>) {
    const bool held = down <= static_cast<double>(std::numeric_limits<T>::max());
    return detail::apply<rules::round_decimals>(std::forward<X>(x), T(1), held ? static_cast<T>(down) : T(0));
  } else if constexpr (sizeof(T) == 2) {  // whose range ends before 10^5
    return detail::apply<rules::cast<T>>(detail::apply<rules::round_decimals>(
        detail::apply<rules::cast<float>>(std::forward<X>(x)), up, down));
  } else {
    return detail::apply<rules::round_decimals>(std::forward<X>(x), up, down);
  }
}

NAX_END
