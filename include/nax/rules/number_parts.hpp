#pragma once

#include <cmath>
#include <cstdint>

#include "nax/rules/math.hpp"
#include "nax/rules/rational.hpp"

// Parts of numbers: the fraction, the exponent, the bits that are set, the distance to the next number.
NAX_BEGIN
namespace rules {

// The fractional part, with the sign of x; 0 for infinities. Its derivative is 1.
struct fraction : Inexact {
  static constexpr const char* name = "modf";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "modf: not for complex numbers");
    using std::copysign, std::isinf, std::trunc;
    return copysign(select(isinf(x), V(0), x - trunc(x)), x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{g};
  }
};

// e with x = m * 2^e and 0.5 <= |m| < 1; 0 of 0, NaN and infinities.
struct exponent {
  static constexpr const char* name = "frexp";
  static constexpr bool linear = false, hands_on = false, differentiable = false, masks = false;
  template <int, class T>
  using operand = inexact_t<T>;
  template <class T>
  using result = std::int32_t;
  template <class V>
  static constexpr std::int32_t value(V x) {
    static_assert(!is_complex_v<V>, "frexp: not for complex numbers");
    int e = 0;
    if (std::isfinite(x)) std::frexp(x, &e);
    return e;
  }
};

// How many bits of |x| are 1.
struct bitwise_count {
  static constexpr const char* name = "bitwise_count";
  static constexpr bool linear = false, hands_on = false, differentiable = false, masks = false;
  template <int, class T>
  using operand = T;
  template <class T>
  using result = std::uint8_t;
  template <class V>
  static constexpr std::uint8_t value(V x) {
    static_assert(is_integer_v<V>, "bitwise_count: integers only");
    std::uint64_t bits = math::magnitude(x);
    std::uint8_t count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
  }
};

}  // namespace rules
NAX_END
