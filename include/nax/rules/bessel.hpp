#pragma once

#include "nax/rules/scalar_lanes.hpp"

// Bessel functions.
NAX_BEGIN
namespace rules {

struct i0 : RealInexact {
  static constexpr const char* name = "i0";
  template <class V>
  static constexpr V value(V x) {
    using math::i0_at;
    return i0_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::i1_at;
    return std::tuple{guarded(g, i1_at(x))};
  }
};
struct i0e : RealInexact {
  static constexpr const char* name = "i0e";
  template <class V>
  static constexpr V value(V x) {
    using math::i0e_at;
    return i0e_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y_) {
    using math::i1e_at, math::sign;
    return std::tuple{guarded(g, i1e_at(x) - sign(x) * y_)};
  }
};
struct i1 : RealInexact {
  static constexpr const char* name = "i1";
  template <class V>
  static constexpr V value(V x) {
    using math::i1_at;
    return i1_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y_) {
    using math::i0_at;
    return std::tuple{guarded(g, select(x == V(0), V(0.5), i0_at(x) - y_ / select(x == V(0), V(1), x)))};
  }
};
struct i1e : RealInexact {
  static constexpr const char* name = "i1e";
  template <class V>
  static constexpr V value(V x) {
    using math::i1e_at;
    return i1e_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y_) {
    using math::i0e_at, math::sign;
    return std::tuple{guarded(
        g, select(x == V(0), V(0.5), i0e_at(x) - y_ * (sign(x) + V(1) / select(x == V(0), V(1), x))))};
  }
};
// Of the first kind, of whole order v, which is not differentiated.
struct bessel_j : RealInexact {
  static constexpr const char* name = "bessel_j";
  template <class V>
  static constexpr V value(V v, V x) {
    using math::bessel_j_at;
    return bessel_j_at(v, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V v, V x, V) {
    using math::bessel_j_at;
    return std::tuple{V(0), guarded(g, V(0.5) * (bessel_j_at(v - V(1), x) - bessel_j_at(v + V(1), x)))};
  }
};

}  // namespace rules
NAX_END
