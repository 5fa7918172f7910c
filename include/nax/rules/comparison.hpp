#pragma once

#include <cmath>
#include <complex>

#include "nax/rules/signature.hpp"

NAX_BEGIN
namespace rules {

struct equal : Comparison {
  static constexpr const char* name = "equal";
  template <class V>
  static constexpr auto value(V x, V y) {
    return x == y;
  }
};
struct not_equal : Comparison {
  static constexpr const char* name = "not_equal";
  template <class V>
  static constexpr auto value(V x, V y) {
    return x != y;
  }
};
// Complex numbers have no order; a type error says so.
struct Ordering : Comparison {
  template <class V>
  static constexpr bool ordered = !is_complex_v<V>;
};
struct less : Ordering {
  static constexpr const char* name = "less";
  template <class V>
  static constexpr auto value(V x, V y) {
    static_assert(ordered<V>, "less: complex numbers have no order");
    return x < y;
  }
};
struct less_equal : Ordering {
  static constexpr const char* name = "less_equal";
  template <class V>
  static constexpr auto value(V x, V y) {
    static_assert(ordered<V>, "less_equal: complex numbers have no order");
    return x <= y;
  }
};
struct greater : Ordering {
  static constexpr const char* name = "greater";
  template <class V>
  static constexpr auto value(V x, V y) {
    static_assert(ordered<V>, "greater: complex numbers have no order");
    return x > y;
  }
};
struct greater_equal : Ordering {
  static constexpr const char* name = "greater_equal";
  template <class V>
  static constexpr auto value(V x, V y) {
    static_assert(ordered<V>, "greater_equal: complex numbers have no order");
    return x >= y;
  }
};

struct logical_and : Logical {
  static constexpr const char* name = "logical_and";
  template <class V>
  static constexpr V value(V x, V y) {
    return x & y;
  }
};
struct logical_or : Logical {
  static constexpr const char* name = "logical_or";
  template <class V>
  static constexpr V value(V x, V y) {
    return x | y;
  }
};
struct logical_xor : Logical {
  static constexpr const char* name = "logical_xor";
  template <class V>
  static constexpr V value(V x, V y) {
    return (x | y) & !(x & y);
  }
};
struct logical_not : Logical {
  static constexpr const char* name = "logical_not";
  template <class V>
  static constexpr V value(V x) {
    return !x;
  }
};

// Tests on single values.
struct Predicate : Comparison {};
struct isfinite : Predicate {
  static constexpr const char* name = "isfinite";
  template <class V>
  static constexpr auto value(V x) {
    if constexpr (is_complex_v<V>) {
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    } else if constexpr (std::is_integral_v<V>) {
      return true;
    } else {
      using std::isfinite;
      return isfinite(x);
    }
  }
};
struct isnan : Predicate {
  static constexpr const char* name = "isnan";
  template <class V>
  static constexpr auto value(V x) {
    return x != x;
  }
};
struct isinf : Predicate {
  static constexpr const char* name = "isinf";
  template <class V>
  static constexpr auto value(V x) {
    if constexpr (is_complex_v<V>) {
      return std::isinf(x.real()) || std::isinf(x.imag());
    } else if constexpr (std::is_integral_v<V>) {
      return false;
    } else {
      using std::isinf;
      return isinf(x);
    }
  }
};

struct where : Selection {
  static constexpr const char* name = "where";
  template <class M, class V>
  static constexpr V value(M mask, V x, V y) {
    return select(mask, x, y);
  }
  template <class M, class V>
  static constexpr auto vjp(V g, M mask, V, V, V) {
    return std::tuple{mask, select(mask, g, V(0)), select(mask, V(0), g)};
  }
};

// NumPy's: |x - y| <= atol + rtol |y| where y is finite, or the same infinity.
struct isclose : Comparison {
  static constexpr const char* name = "isclose";
  template <class V>
  static constexpr auto value(V x, V y, V rtol, V atol) {
    using std::abs;
    const auto finite = isfinite::value(y), same = x == y;
    if constexpr (is_complex_v<V>) {
      return (finite && abs(x - y) <= atol.real() + rtol.real() * abs(y)) || same;
    } else {
      const auto nearby = abs(x - y) <= atol + rtol * abs(y);
      return (nearby & finite) | same;
    }
  }
};

}  // namespace rules
NAX_END
