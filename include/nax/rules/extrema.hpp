#pragma once

#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {

// NaN where either operand is. The derivative is split evenly where both are equal.
struct maximum : Arithmetic {
  static constexpr const char* name = "maximum";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x, V y) {
    using math::max;
    return max(x, y);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    const V tie = select(x == y, V(0.5) * g, V(0));
    return std::tuple{select(x > y, g, tie), select(y > x, g, tie)};
  }
};
struct minimum : Arithmetic {
  static constexpr const char* name = "minimum";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x, V y) {
    using math::min;
    return min(x, y);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    return maximum::vjp(g, y, x, g);
  }
};

// The other operand where one is NaN. The derivative of equal operands goes to the second, as in JAX.
struct fmax : Arithmetic {
  static constexpr const char* name = "fmax";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x, V y) {
    using math::max;
    return select(x != x, y, select(y != y, x, max(x, y)));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    const auto first = (x > y) | (y != y);
    return std::tuple{select(first, g, V(0)), select(first, V(0), g)};
  }
};
struct fmin : Arithmetic {
  static constexpr const char* name = "fmin";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x, V y) {
    using math::min;
    return select(x != x, y, select(y != y, x, min(x, y)));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    const auto first = (x < y) | (y != y);
    return std::tuple{select(first, g, V(0)), select(first, V(0), g)};
  }
};

// minimum(maximum(x, low), high) in one.
struct clip : Arithmetic {
  static constexpr const char* name = "clip";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x, V low, V high) {
    using math::max, math::min;
    return min(max(x, low), high);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V low, V high, V) {
    const V bounded = select(low > x, low, x);
    const auto [of_bounded, of_high] = minimum::vjp(g, bounded, high, g);
    const auto [of_x, of_low] = maximum::vjp(of_bounded, x, low, g);
    return std::tuple{of_x, of_low, of_high};
  }
};

}  // namespace rules
NAX_END
