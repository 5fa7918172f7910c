#pragma once

#include <limits>

#include "nax/rules/math.hpp"

// Powers and roots.
NAX_BEGIN
namespace rules {

namespace math {
// The power of a complex number, at 0 as NumPy has it: 0^0 is 1, and 0 to what has no positive real part is
// NaN.
template <class V>
constexpr V complex_power(V x, V y) {
  using std::pow;
  if (y == V(0)) return V(1);
  if (x != V(0)) return pow(x, y);
  constexpr auto nan = std::numeric_limits<decltype(x.real())>::quiet_NaN();
  return y.real() > 0 ? V(0) : V(nan, nan);
}
}  // namespace math

// x^y. Integers are exact; a negative power of an integer is truncated (0 but for 1 and -1). The derivative
// in x is right at x = 0, that in y is 0 there.
struct power : Arithmetic {
  static constexpr const char* name = "power";
  template <int, class... T>
  using operand =
      std::conditional_t<std::is_same_v<promote_all_t<T...>, bool>, std::int32_t, promote_all_t<T...>>;
  template <class... T>
  using result = operand<0, T...>;
  template <class V>
  static constexpr V value(V x, V y) {
    if constexpr (std::is_integral_v<V>) {
      return math::integer_power(x, y);
    } else if constexpr (is_complex_v<V>) {
      return math::complex_power(x, y);
    } else {
      using std::pow;
      return pow(x, y);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V r) {
    using std::log, std::pow;
    const V flat = select(y == V(0), V(1), y);
    const V dx = select(y == V(0), V(0), y * pow(x, flat - V(1)));
    const V dy = r * log(select(x == V(0), V(1), x));
    return std::tuple{guarded(g, dx), guarded(g, dy)};
  }
};
struct float_power : Inexact {
  static constexpr const char* name = "float_power";
  template <class V>
  static constexpr V value(V x, V y) {
    return power::value(x, y);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V r) {
    return power::vjp(g, x, y, r);
  }
};

namespace math {
// integer_power where a derivative asks for it; recorded arrays have their own, of a C++ number.
template <class V, class N>
constexpr V raised(V x, N n) {
  if constexpr (is_complex_v<V>)
    return integer_power(x, static_cast<std::int64_t>(n.real()));
  else
    return integer_power(x, static_cast<std::int64_t>(uniform(n)));
}
}  // namespace math

// x^n for a whole n that is the same for all elements: products only, for any x.
struct integer_power : Arithmetic {
  static constexpr const char* name = "power";
  static constexpr int number = 1;
  template <int, class... T>
  using operand = power::operand<0, T...>;
  template <class... T>
  using result = power::operand<0, T...>;
  template <class V>
  static constexpr V value(V x, V n) {
    return math::raised(x, n);
  }
  template <class V, class N>
  static constexpr auto vjp(V g, V x, N n, V) {
    using math::raised;
    const N below = n - N(1);
    return std::tuple{guarded(g, V(n) * raised(x, select(n == N(0), n, below))), V(0)};
  }
};

struct sqrt : Inexact {
  static constexpr const char* name = "sqrt";
  template <class V>
  static constexpr V value(V x) {
    using std::sqrt;
    return sqrt(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{guarded(g, V(0.5) / y)};
  }
};
struct rsqrt : Inexact {
  static constexpr const char* name = "rsqrt";
  template <class V>
  static constexpr V value(V x) {
    using math::rsqrt;
    return rsqrt(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y) {
    return std::tuple{guarded(g, V(-0.5) * y / x)};
  }
};
struct cbrt : Inexact {
  static constexpr const char* name = "cbrt";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "cbrt: use power for complex numbers");
    using std::cbrt;
    return cbrt(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    const V r = V(1) / y;  // not 1 / (y y), whose own derivative at 0 would be NaN
    return std::tuple{guarded(g, V(1. / 3) * r * r)};
  }
};

}  // namespace rules
NAX_END
