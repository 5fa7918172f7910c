#pragma once

#include <limits>

#include "nax/rules/math.hpp"

// The make of floating-point numbers.
NAX_BEGIN
namespace rules {

struct signbit : Comparison {
  static constexpr const char* name = "signbit";
  template <class V>
  static constexpr auto value(V x) {
    static_assert(!is_complex_v<V>, "signbit: not for complex numbers");
    using std::signbit;
    if constexpr (std::is_integral_v<V>)
      return x < V(0);
    else
      return signbit(x);
  }
};
struct isneginf : Comparison {
  static constexpr const char* name = "isneginf";
  template <class V>
  static constexpr auto value(V x) {
    static_assert(!is_complex_v<V>, "isneginf: not for complex numbers");
    using std::isinf;
    if constexpr (std::is_integral_v<V>)
      return false;
    else
      return isinf(x) & (x < V(0));
  }
};
struct isposinf : Comparison {
  static constexpr const char* name = "isposinf";
  template <class V>
  static constexpr auto value(V x) {
    static_assert(!is_complex_v<V>, "isposinf: not for complex numbers");
    using std::isinf;
    if constexpr (std::is_integral_v<V>)
      return false;
    else
      return isinf(x) & (x > V(0));
  }
};

// |x| with the sign of y. The derivative at x = 0 is 0.
struct copysign : Inexact {
  static constexpr const char* name = "copysign";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "copysign: not for complex numbers");
    using std::copysign;
    return copysign(x, y);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    using math::sign, std::signbit;
    return std::tuple{select(signbit(y), -g, g) * sign(x), V(0)};
  }
};
// Of float and double: kernels compute halves in float, whose neighbours are others.
struct nextafter : Inexact {
  static constexpr const char* name = "nextafter";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "nextafter: not for complex numbers");
    using std::nextafter;
    return nextafter(x, y);
  }
};
// 0 below 0, h at 0, 1 above.
struct heaviside : Inexact {
  static constexpr const char* name = "heaviside";
  template <class V>
  static constexpr V value(V x, V h) {
    static_assert(!is_complex_v<V>, "heaviside: not for complex numbers");
    return select(x < V(0), V(0), select(x > V(0), V(1), select(x == V(0), h, x)));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V, V) {
    return std::tuple{V(0), select(x == V(0), g, V(0))};
  }
};

// x * 2^n for integers n.
struct ldexp {
  static constexpr const char* name = "ldexp";
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int i, class T, class N>
  using operand = std::conditional_t<i == 0, inexact_t<T>, std::int32_t>;
  template <class T, class>
  using result = inexact_t<T>;
  template <class V, class N>
  static constexpr V value(V x, N n) {
    static_assert(!is_complex_v<V>, "ldexp: not for complex numbers");
    return std::ldexp(x, n);
  }
  template <class V, class N>
  static constexpr auto vjp(V g, V, N n, V) {
    using std::ldexp;
    return std::tuple{ldexp(g, n), n};
  }
};

// x, but zero where it is smaller than `least`: with the smallest normal number, no subnormal one is left.
struct flush : Arithmetic {
  static constexpr const char* name = "flush";
  static constexpr bool holomorphic = false;  // treats the parts of complex numbers apart
  template <class V>
  static constexpr V value(V x, V least) {
    using std::abs;
    if constexpr (is_complex_v<V>)
      return V(value(x.real(), least.real()), value(x.imag(), least.real()));
    else
      return select(abs(x) < least, V(0), x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    return std::tuple{g, V(0)};
  }
};

// x with other numbers for NaN and the infinities; the derivative there is 0.
struct nan_to_num : Arithmetic {
  static constexpr const char* name = "nan_to_num";
  static constexpr bool holomorphic = false;  // treats the parts of complex numbers apart
  template <class V>
  static constexpr V value(V x, V nan, V above, V below) {
    if constexpr (is_complex_v<V>) {
      return V(value(x.real(), nan.real(), above.real(), below.real()),
               value(x.imag(), nan.real(), above.real(), below.real()));
    } else if constexpr (std::is_integral_v<V>) {
      return x;
    } else {
      using std::isinf;
      const V finite = select(isinf(x), select(x > V(0), above, below), x);
      return select(x != x, nan, finite);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V, V, V, V) {
    using std::isfinite;
    if constexpr (is_complex_v<V>) {
      const V share(std::isfinite(x.real()) ? g.real() : 0, std::isfinite(x.imag()) ? g.imag() : 0);
      return std::tuple{share, V(0), V(0), V(0)};
    } else {
      return std::tuple{select(isfinite(x), g, V(0)), V(0), V(0), V(0)};
    }
  }
};

}  // namespace rules
NAX_END
