#pragma once

#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {

struct sin : Inexact {
  static constexpr const char* name = "sin";
  template <class V>
  static constexpr V value(V x) {
    using std::sin;
    return sin(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::cos;
    return std::tuple{g * cos(x)};
  }
};
struct cos : Inexact {
  static constexpr const char* name = "cos";
  template <class V>
  static constexpr V value(V x) {
    using std::cos;
    return cos(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::sin;
    return std::tuple{-(g * sin(x))};
  }
};
struct tan : Inexact {
  static constexpr const char* name = "tan";
  template <class V>
  static constexpr V value(V x) {
    using std::tan;
    return tan(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * (V(1) + y * y)};
  }
};

namespace math {
// 1 - x^2 to the last digits near 1; recorded arrays have their own.
template <class V>
constexpr V one_minus_square(V x) {
  return (V(1) - x) * (V(1) + x);
}
}  // namespace math
// For derivatives. As an operation it has one of its own, which the product has not where a factor is 0 and
// the cotangent infinite.
struct one_minus_square : Inexact {
  static constexpr const char* name = "one_minus_square";
  template <class V>
  static constexpr V value(V x) {
    return math::one_minus_square(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(-2) * x)};
  }
};

struct arcsin : Inexact {
  static constexpr const char* name = "arcsin";
  template <class V>
  static constexpr V value(V x) {
    using std::asin;
    return asin(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::one_minus_square, std::sqrt;
    return std::tuple{guarded(g, V(1) / sqrt(one_minus_square(x)))};
  }
};
struct arccos : Inexact {
  static constexpr const char* name = "arccos";
  template <class V>
  static constexpr V value(V x) {
    using std::acos;
    return acos(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::one_minus_square, std::sqrt;
    return std::tuple{guarded(g, V(-1) / sqrt(one_minus_square(x)))};
  }
};
struct arctan : Inexact {
  static constexpr const char* name = "arctan";
  template <class V>
  static constexpr V value(V x) {
    using std::atan;
    return atan(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{g / (V(1) + x * x)};
  }
};

// The angle of the point (x, y); y is the first argument.
struct arctan2 : Inexact {
  static constexpr const char* name = "arctan2";
  template <class V>
  static constexpr V value(V y, V x) {
    static_assert(!is_complex_v<V>, "arctan2: real coordinates; complex numbers have an angle");
    using std::atan2;
    return atan2(y, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V y, V x, V) {
    const V d = V(1) / (x * x + y * y);
    return std::tuple{guarded(g, x * d), guarded(g, -(y * d))};
  }
};
// The derivative at the origin is 0.
struct hypot : Inexact {
  static constexpr const char* name = "hypot";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "hypot: not for complex numbers");
    using std::hypot;
    return hypot(x, y);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V r) {
    const V safe = select(r == V(0), V(1), r);
    return std::tuple{g * (x / safe), g * (y / safe)};
  }
};

struct deg2rad : Inexact {
  static constexpr const char* name = "deg2rad";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x) {
    return x * V(0.017453292519943295769);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{g * V(0.017453292519943295769)};
  }
};
struct rad2deg : Inexact {
  static constexpr const char* name = "rad2deg";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x) {
    return x * V(57.295779513082320877);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{g * V(57.295779513082320877)};
  }
};

// sin(pi x) / (pi x). Its derivative takes Taylor's series near 0, where the quotient cancels.
struct sinc : Inexact {
  static constexpr const char* name = "sinc";
  template <class V>
  static constexpr V value(V x) {
    using std::sin;
    const V t = x * V(3.14159265358979323846);
    const V safe = select(t == V(0), V(1), t);
    return select(t == V(0), V(1), sin(safe) / safe);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::abs, std::cos, std::sin;
    const V t = x * V(3.14159265358979323846), z = t * t;
    const auto size = abs(t);
    const auto nearby = size < decltype(abs(t))(0.75);
    const V safe = select(nearby, V(1), t);
    const V series =
        t * (V(-1. / 3) +
             z * (V(1. / 30) + z * (V(-1. / 840) +
                                    z * (V(1. / 45360) + z * (V(-1. / 3991680) + z * (V(1. / 518918400)))))));
    const V d = select(nearby, series, (cos(safe) - sin(safe) / safe) / safe);
    return std::tuple{g * d * V(3.14159265358979323846)};
  }
};

}  // namespace rules
NAX_END
