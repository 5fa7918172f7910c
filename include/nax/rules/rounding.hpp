#pragma once

#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {

// Integers are whole already.
struct Rounding : Arithmetic {
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr bool whole = std::is_integral_v<V>;
};

struct floor : Rounding {
  static constexpr const char* name = "floor";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "floor: not for complex numbers");
    using std::floor;
    if constexpr (whole<V>)
      return x;
    else
      return floor(x);
  }
};
struct ceil : Rounding {
  static constexpr const char* name = "ceil";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "ceil: not for complex numbers");
    using std::ceil;
    if constexpr (whole<V>)
      return x;
    else
      return ceil(x);
  }
};
struct trunc : Rounding {
  static constexpr const char* name = "trunc";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "trunc: not for complex numbers");
    using std::trunc;
    if constexpr (whole<V>)
      return x;
    else
      return trunc(x);
  }
};
// To the nearest whole number, halves to the even one.
struct rint : Rounding {
  static constexpr const char* name = "rint";
  template <class V>
  static constexpr V value(V x) {
    using std::rint;
    if constexpr (whole<V>)
      return x;
    else if constexpr (is_complex_v<V>)
      return V(std::rint(x.real()), std::rint(x.imag()));
    else
      return rint(x);
  }
};

// To a number of decimals: `up` is 10^decimals, or 1 where they are negative and `down` is 10^-decimals.
struct round_decimals : Rounding {
  static constexpr const char* name = "round";
  template <class V>
  static constexpr V value(V x, V up, V down) {
    if constexpr (std::is_same_v<V, bool>) {
      return x;
    } else if constexpr (whole<V>) {
      if (down == V(1)) return x;
      if (down == V(0)) return V(0);  // 10^-decimals is more than the type holds
      // (Near the type's ends the multiple may lie beyond them, and wraps around.)
      using W = wrapping_t<V>;
      const V r = math::integer_mod(x, down), rest = static_cast<V>(down - r);
      const V below = static_cast<V>(static_cast<W>(x) - static_cast<W>(r));
      const bool odd = math::integer_floor_divide(x, down) % 2 != 0;
      const bool up_is_nearer = r > rest || (r == rest && odd);
      return up_is_nearer ? static_cast<V>(static_cast<W>(below) + static_cast<W>(down)) : below;
    } else {
      const V r = rint::value(x * up / down);
      if constexpr (is_complex_v<V>)
        return r * down / up;
      else  // beyond the range x has no such decimals, or is far below such tens
        return select(r - r == V(0), select(r == V(0), r, r * down / up), x);
    }
  }
};

}  // namespace rules
NAX_END
