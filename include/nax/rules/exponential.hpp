#pragma once

#include "nax/core/rounded.hpp"
#include "nax/rules/math.hpp"

// Exponentials and logarithms.
NAX_BEGIN
namespace rules {

struct exp : Inexact {
  static constexpr const char* name = "exp";
  template <class V>
  static constexpr V value(V x) {
    using std::exp;
    return exp(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * y};
  }
};
struct exp2 : Inexact {
  static constexpr const char* name = "exp2";
  template <class V>
  static constexpr V value(V x) {
    if constexpr (is_complex_v<V>) {
      using std::exp;
      constexpr real_t<V> ln2(0.69314718055994530942);
      return exp(V(x.real() * ln2, x.imag() * ln2));  // no infinity times 0
    } else {
      using std::exp2;
      return exp2(x);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * y * V(0.69314718055994530942)};
  }
};
struct expm1 : Inexact {
  static constexpr const char* name = "expm1";
  template <class V>
  static constexpr V value(V x) {
    if constexpr (is_complex_v<V>) {
      using R = real_t<V>;
      const R e = std::expm1(x.real()), s = std::sin(x.imag() / 2);
      // (Infinity times the sine of 0 is 0 here, as in std::exp.)
      const R imag = x.imag() == 0 ? x.imag() : (e + 1) * std::sin(x.imag());
      return V(e * std::cos(x.imag()) - 2 * s * s, imag);
    } else {
      using std::expm1;
      return expm1(x);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * (y + V(1))};
  }
};

struct log : Inexact {
  static constexpr const char* name = "log";
  template <class V>
  static constexpr V value(V x) {
    using std::log;
    return log(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(1) / x)};
  }
};
struct log2 : Inexact {
  static constexpr const char* name = "log2";
  template <class V>
  static constexpr V value(V x) {
    if constexpr (is_complex_v<V>) {
      using std::log;
      constexpr real_t<V> by(1.4426950408889634074);
      const V y = log(x);
      return V(y.real() * by, y.imag() * by);  // no infinity times 0
    } else {
      using std::log2;
      return log2(x);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(1.4426950408889634074) / x)};
  }
};
struct log10 : Inexact {
  static constexpr const char* name = "log10";
  template <class V>
  static constexpr V value(V x) {
    using std::log10;
    return log10(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(0.43429448190325182765) / x)};
  }
};
struct log1p : Inexact {
  static constexpr const char* name = "log1p";
  template <class V>
  static constexpr V value(V x) {
    if constexpr (is_complex_v<V>) {
      using std::log;
      using R = real_t<V>;
      const R a = x.real(), b = x.imag();
      // Far from 0 nothing is lost in 1 + a, and squares might overflow; near -1 the sum is exact.
      if (!(std::abs(a) < 4 && std::abs(b) < 4) || a < R(-0.5)) return log(V(1 + a, b));
      // |1 + x|^2 - 1, with what the squares were rounded by: where |1 + x| is 1, the sum cancels.
      const R p = nax::detail::rounded(a * a), q = nax::detail::rounded(b * b);
      const R larger = p > q ? p : q, both = p + q, rest = (larger - both) + (p > q ? q : p);
      const R errors = rest + (std::fma(a, a, -p) + std::fma(b, b, -q));
      return V(R(0.5) * std::log1p((2 * a + both) + errors), std::atan2(b, 1 + a));
    } else {
      using std::log1p;
      return log1p(x);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(1) / (V(1) + x))};
  }
};

// log(e^x + e^y). The derivative is the share of each in the sum; of two equal infinities, a half.
struct logaddexp : Inexact {
  static constexpr const char* name = "logaddexp";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "logaddexp: not for complex numbers");
    using math::max, std::abs, std::exp, std::log1p;
    const V m = max(x, y);
    return select(x == y, x + V(0.69314718055994530942), m + log1p(exp(-abs(x - y))));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    using std::exp, std::isinf;
    const auto same = (x == y) & isinf(x);
    const V d = select(same, V(0), x - y);
    return std::tuple{g / (V(1) + exp(-d)), g / (V(1) + exp(d))};
  }
};
struct logaddexp2 : Inexact {
  static constexpr const char* name = "logaddexp2";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "logaddexp2: not for complex numbers");
    using math::max, std::abs, std::exp2, std::log1p;
    const V m = max(x, y);
    return select(x == y, x + V(1), m + log1p(exp2(-abs(x - y))) * V(1.4426950408889634074));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    using std::exp2, std::isinf;
    const auto same = (x == y) & isinf(x);
    const V d = select(same, V(0), x - y);
    return std::tuple{g / (V(1) + exp2(-d)), g / (V(1) + exp2(d))};
  }
};

}  // namespace rules
NAX_END
