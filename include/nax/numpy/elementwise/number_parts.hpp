#pragma once

#include <limits>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/rules/number_parts.hpp"

// Numbers taken apart. Results of two parts are structs: `auto [quotient, rest] = divmod(x, y);`.
NAX_BEGIN

template <class T>
struct DivmodResult {
  Array<T> quotient, remainder;
};
template <class T>
struct FrexpResult {
  Array<T> mantissa;
  Array<std::int32_t> exponent;
};
template <class T>
struct ModfResult {
  Array<T> fractional, integral;
};

// floor_divide and remainder at once.
template <class X, class Y>
requires Function<X, Y>
auto divmod(const X& x, const Y& y) {
  auto quotient = floor_divide(x, y);
  using T = typename decltype(quotient)::value_type;
  return DivmodResult<T>{quotient, remainder(x, y)};
}

// x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1; integers become float first. 0, NaN and infinities
// are their own mantissa, their exponent is 0. The exponent is a constant to derivatives.
template <class X>
requires Function<X>
auto frexp(const X& x) {
  const detail::where_used_t<Array<std::int32_t>, X> exponent = detail::apply<rules::exponent>(x);
  auto mantissa = ldexp(x, -exponent);
  using T = typename decltype(mantissa)::value_type;
  return FrexpResult<T>{mantissa, exponent};
}

// Returns the fractional and the integral part, both with the sign of x; integers become float first.
template <class X>
requires Function<X>
auto modf(const X& x) {
  auto fractional = detail::apply<rules::fraction>(x);
  using T = typename decltype(fractional)::value_type;
  if constexpr (is_inexact_v<detail::operand_type_t<X>>)
    return ModfResult<T>{fractional, trunc(x)};
  else
    return ModfResult<T>{fractional, detail::apply<rules::cast<T>>(x)};
}

// The distance from x to the next number of its type away from 0, with the sign of x; NaN of NaN and
// infinities. Integers become float first. The derivative is 0.
template <class X>
requires Function<X>
auto spacing(const X& x_) {
  using T = inexact_t<detail::operand_type_t<X>>;
  static_assert(!is_complex_v<T>, "spacing: not for complex numbers");
  using Limits = std::numeric_limits<T>;
  const auto x = detail::apply<rules::cast<T>>(x_);
  const auto place = maximum(detail::apply<rules::exponent>(x), Limits::min_exponent) - Limits::digits;
  // (0 has the exponent 0, which is not that of its neighbours.)
  const Array<std::int32_t> at = where(x == T(0), Limits::min_exponent - Limits::digits, place);
  const Array<T> one = detail::typed<T>(detail::beside(at, detail::host_number(T(1))));
  const Array<T> size = where(isfinite(x), ldexp(one, at), std::numeric_limits<T>::quiet_NaN());
  return Array<T>(where(signbit(x), -size, size));
}

namespace detail {

// An operand of a half type T as float, rounded to T first.
template <class T, class X>
auto in_float(const X& x) {
  if constexpr (Scalar<X>)
    return static_cast<float>(static_cast<T>(x));
  else
    return Array<float>(apply<rules::cast<float>>(Array<T>(apply<rules::cast<T>>(x))));
}

}  // namespace detail

// The next number of the result's type from x in the direction of y; y where they are equal.
template <class X, class Y>
requires Function<X, Y>
auto nextafter(const X& x_, const Y& y_) {
  using T = typename decltype(detail::apply<rules::nextafter>(x_, y_))::value_type;
  if constexpr (sizeof(T) != 2) {
    return detail::apply<rules::nextafter>(x_, y_);
  } else {
    // By more than half the distance to the neighbour and less than one and a half, rounded.
    using Limits = std::numeric_limits<T>;
    const auto x = detail::in_float<T>(x_), y = detail::in_float<T>(y_);
    constexpr float unit = static_cast<float>(Limits::epsilon()) / 2;
    const auto step = maximum(abs(x) * (unit * (1 + unit)), 0.75f * static_cast<float>(Limits::denorm_min()));
    const auto moved =
        where(isinf(x), copysign(static_cast<float>(Limits::max()), x), x + where(y > x, step, -step));
    return Array<T>(
        detail::apply<rules::cast<T>>(where(x == y, y, where((x != x) | (y != y), x + y, moved))));
  }
}

// How many bits of |x| are 1, as uint8.
template <class X>
requires Function<X>
auto bitwise_count(X&& x) { return detail::apply<rules::bitwise_count>(std::forward<X>(x)); }

// Where the imaginary part is, or is not, 0.
template <class X>
requires Function<X>
auto iscomplex(const X& x) { return imag(x) != 0; }
// Whether an element's imaginary part is 0.
template <class X>
requires Function<X>
auto isreal(const X& x) { return imag(x) == 0; }

// NumPy's other name of round.
template <class X>
requires Function<X>
auto around(X&& x, RoundOptions options = {}) { return nax::round(std::forward<X>(x), options); }

NAX_END
