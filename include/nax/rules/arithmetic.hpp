#pragma once

#include <cmath>

#include "nax/rules/signature.hpp"

namespace nax::rules {

struct add : Arithmetic {
  static constexpr const char* name = "add";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x, V y) {
    return x + y;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    return std::tuple{g, g};
  }
};

struct subtract : Arithmetic {
  static constexpr const char* name = "subtract";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x, V y) {
    return x - y;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    return std::tuple{g, -g};
  }
};

struct multiply : Arithmetic {
  static constexpr const char* name = "multiply";
  template <class V>
  static constexpr V value(V x, V y) {
    return x * y;
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    return std::tuple{g * y, g * x};
  }
};

struct divide : Inexact {
  static constexpr const char* name = "divide";
  template <class V>
  static constexpr V value(V x, V y) {
    return x / y;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y, V r) {
    const V d = V(1) / y;
    return std::tuple{guarded(g, d), guarded(g, -(r * d))};
  }
};

struct negative : Arithmetic {
  static constexpr const char* name = "negative";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x) {
    return -x;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{-g};
  }
};

struct square : Arithmetic {
  static constexpr const char* name = "square";
  template <class V>
  static constexpr V value(V x) {
    return x * x;
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{g * (x + x)};
  }
};

}  // namespace nax::rules
