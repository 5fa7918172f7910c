#pragma once

#include "nax/rules/scalar_lanes.hpp"

// Hypergeometric functions. Their parameters are not differentiated: who calls these sees to it.
NAX_BEGIN
namespace rules {

struct hyp1f1 : RealInexact {
  static constexpr const char* name = "hyp1f1";
  template <class V>
  static constexpr V value(V a, V b, V x) {
    using math::hyp1f1_at;
    return hyp1f1_at(a, b, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V x, V) {
    using math::hyp1f1_at;
    return std::tuple{V(0), V(0), guarded(g, a / b * hyp1f1_at(a + V(1), b + V(1), x))};
  }
};
struct hyp2f1 : RealInexact {
  static constexpr const char* name = "hyp2f1";
  template <class V>
  static constexpr V value(V a, V b, V c, V x) {
    using math::hyp2f1_at;
    return hyp2f1_at(a, b, c, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V c, V x, V) {
    using math::hyp2f1_at;
    return std::tuple{V(0), V(0), V(0), guarded(g, a * b / c * hyp2f1_at(a + V(1), b + V(1), c + V(1), x))};
  }
};

}  // namespace rules
NAX_END
