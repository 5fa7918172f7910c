#pragma once

#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {
namespace math {

template <class V>
constexpr auto magnitude(V x) {
  using U = std::make_unsigned_t<V>;
  return x < V(0) ? static_cast<U>(U(0) - static_cast<U>(x)) : static_cast<U>(x);
}
template <class U>
constexpr U greatest_common_divisor(U x, U y) {
  while (y != 0) {
    const U rest = static_cast<U>(x % y);
    x = y;
    y = rest;
  }
  return x;
}

}  // namespace math

struct gcd : Arithmetic {
  static constexpr const char* name = "gcd";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(is_integer_v<V>, "gcd: integers only");
    return static_cast<V>(math::greatest_common_divisor(math::magnitude(x), math::magnitude(y)));
  }
};
struct lcm : Arithmetic {
  static constexpr const char* name = "lcm";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(is_integer_v<V>, "lcm: integers only");
    const auto a = math::magnitude(x), b = math::magnitude(y);
    if (a == 0 || b == 0) return V(0);
    return static_cast<V>(static_cast<wrapping_t<V>>(a / math::greatest_common_divisor(a, b)) *
                          static_cast<wrapping_t<V>>(b));
  }
};

}  // namespace rules
NAX_END
