#pragma once

#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {

struct sinh : Inexact {
  static constexpr const char* name = "sinh";
  template <class V>
  static constexpr V value(V x) {
    using std::sinh;
    return sinh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::cosh;
    return std::tuple{g * cosh(x)};
  }
};
struct cosh : Inexact {
  static constexpr const char* name = "cosh";
  template <class V>
  static constexpr V value(V x) {
    using std::cosh;
    return cosh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::sinh;
    return std::tuple{g * sinh(x)};
  }
};
struct tanh : Inexact {
  static constexpr const char* name = "tanh";
  template <class V>
  static constexpr V value(V x) {
    using std::tanh;
    return tanh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * (V(1) - y * y)};
  }
};

struct arcsinh : Inexact {
  static constexpr const char* name = "arcsinh";
  template <class V>
  static constexpr V value(V x) {
    using std::asinh;
    return asinh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::sqrt;
    return std::tuple{guarded(g, V(1) / sqrt(x * x + V(1)))};
  }
};
struct arccosh : Inexact {
  static constexpr const char* name = "arccosh";
  template <class V>
  static constexpr V value(V x) {
    using std::acosh;
    return acosh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::sqrt;
    return std::tuple{
        guarded(g, V(1) / (sqrt(x - V(1)) * sqrt(x + V(1))))};  // right for complex numbers, too
  }
};
struct arctanh : Inexact {
  static constexpr const char* name = "arctanh";
  template <class V>
  static constexpr V value(V x) {
    using std::atanh;
    return atanh(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(1) / ((V(1) - x) * (V(1) + x)))};
  }
};

}  // namespace rules
NAX_END
