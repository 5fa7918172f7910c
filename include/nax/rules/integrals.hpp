#pragma once

#include "nax/rules/scalar_lanes.hpp"

// Integrals of exponentials, sines and logarithms; sums of powers.
NAX_BEGIN
namespace rules {

// n is whole, and not differentiated.
struct expn : RealInexact {
  static constexpr const char* name = "expn";
  template <class V>
  static constexpr V value(V n, V x) {
    using math::expn_at;
    return expn_at(n, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V x, V) {
    using math::expn_at;
    return std::tuple{V(0), guarded(g, -expn_at(n - V(1), x))};
  }
};
struct expi : RealInexact {
  static constexpr const char* name = "expi";
  template <class V>
  static constexpr V value(V x) {
    using math::expi_at;
    return expi_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::exp;
    return std::tuple{guarded(g, exp(x) / x)};
  }
};
struct sine_integral : RealInexact {
  static constexpr const char* name = "sine_integral";
  template <class V>
  static constexpr V value(V x) {
    using math::sine_integral_at;
    return sine_integral_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::sin;
    return std::tuple{guarded(g, select(x == V(0), V(1), sin(x) / select(x == V(0), V(1), x)))};
  }
};
struct cosine_integral : RealInexact {
  static constexpr const char* name = "cosine_integral";
  template <class V>
  static constexpr V value(V x) {
    using math::cosine_integral_at;
    return cosine_integral_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::cos;
    return std::tuple{guarded(g, cos(x) / x)};
  }
};
struct spence : RealInexact {
  static constexpr const char* name = "spence";
  template <class V>
  static constexpr V value(V x) {
    using math::spence_at;
    return spence_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    // log(x) / (1 - x), by what has derivatives of any order at 1.
    using math::exponential_moment_at;
    using std::log;
    return std::tuple{guarded(g, V(-1) / exponential_moment_at(V(0), V(log(x))))};
  }
};
// cos(pi / 2 (x^2 + k)). k is whole, and not differentiated.
struct fresnel_wave : RealInexact {
  static constexpr const char* name = "fresnel_wave";
  template <class V>
  static constexpr V value(V k, V x) {
    using math::fresnel_wave_at;
    return fresnel_wave_at(k, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V k, V x, V) {
    using math::fresnel_wave_at;
    return std::tuple{V(0), guarded(g, V(3.14159265358979323846) * x * fresnel_wave_at(k + V(1), x))};
  }
};
struct fresnel_sine : RealInexact {
  static constexpr const char* name = "fresnel_sine";
  template <class V>
  static constexpr V value(V x) {
    using math::fresnel_sine_at;
    return fresnel_sine_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::fresnel_wave_at;
    return std::tuple{guarded(g, fresnel_wave_at(V(-1), x))};
  }
};
struct fresnel_cosine : RealInexact {
  static constexpr const char* name = "fresnel_cosine";
  template <class V>
  static constexpr V value(V x) {
    using math::fresnel_cosine_at;
    return fresnel_cosine_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::fresnel_wave_at;
    return std::tuple{guarded(g, fresnel_wave_at(V(0), x))};
  }
};
// exp(-z^2) erfc(-i z), of complex numbers.
struct wofz : Arithmetic {
  static constexpr const char* name = "wofz";
  template <class V>
  static constexpr V value(V z) {
    static_assert(is_complex_v<V>, "wofz: the operand must be complex");
    return math::wofz_at(z);
  }
  template <class V>
  static constexpr auto vjp(V g, V z, V w) {
    return std::tuple{guarded(g, V(std::complex<double>(0, 1.12837916709551257390)) - V(2) * z * w)};
  }
};
// The n-th derivative of (e^u - 1) / u.
struct exponential_moment : RealInexact {
  static constexpr const char* name = "exponential_moment";
  template <class V>
  static constexpr V value(V n, V u) {
    using math::exponential_moment_at;
    return exponential_moment_at(n, u);
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V u, V) {
    using math::exponential_moment_at;
    return std::tuple{V(0), guarded(g, exponential_moment_at(n + V(1), u))};
  }
};
// Derivative number `order` by s of the sum of (q + k)^-s. The order is not differentiated.
struct zeta : RealInexact {
  static constexpr const char* name = "zeta";
  template <class V>
  static constexpr V value(V order, V s, V q) {
    using math::zeta_at;
    return zeta_at(order, s, q);
  }
  template <class V>
  static constexpr auto vjp(V g, V order, V s, V q, V) {
    using math::zeta_at;
    return std::tuple{
        V(0), guarded(g, zeta_at(order + V(1), s, q)),
        guarded(g, -(s * zeta_at(order, s + V(1), q) + order * zeta_at(order - V(1), s + V(1), q)))};
  }
};
// (x^lambda - 1) / lambda, log(x) at lambda = 0
struct boxcox : RealInexact {
  static constexpr const char* name = "boxcox";
  template <class V>
  static constexpr V value(V x, V lambda) {
    using std::expm1, std::log;
    const V l = log(x);
    return select(lambda == V(0), l, expm1(lambda * l) / select(lambda == V(0), V(1), lambda));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V lambda, V) {
    using std::log, std::pow, math::exponential_moment_at;
    return std::tuple{guarded(g, pow(x, lambda - V(1))),
                      guarded(g, log(x) * log(x) * exponential_moment_at(V(1), lambda * log(x)))};
  }
};
// The Box-Cox transform of 1 + x.
struct boxcox1p : RealInexact {
  static constexpr const char* name = "boxcox1p";
  template <class V>
  static constexpr V value(V x, V lambda) {
    using std::expm1, std::log1p;
    const V l = log1p(x);
    return select(lambda == V(0), l, expm1(lambda * l) / select(lambda == V(0), V(1), lambda));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V lambda, V) {
    using std::log1p, std::pow, math::exponential_moment_at;
    return std::tuple{guarded(g, pow(V(1) + x, lambda - V(1))),
                      guarded(g, log1p(x) * log1p(x) * exponential_moment_at(V(1), lambda * log1p(x)))};
  }
};
// log(x / y) of positive numbers: by the difference where x / y leaves the normal numbers, by log1p near 1.
template <class V>
constexpr V log_ratio(V x, V y) {
  using std::abs, std::log, std::log1p;
  const V ratio = x / y;
  const auto is_normal =
      (ratio > V(std::numeric_limits<float>::min())) & (ratio < V(std::numeric_limits<float>::max()));
  const V distant = select(is_normal, log(ratio), log(x) - log(y));
  return select(abs(ratio - V(1)) < V(0.5), log1p((x - y) / y), distant);
}

// x log(x / y) - x + y: infinite where x or y is below 0, and where y is 0 and x is not
struct kl_div : RealInexact {
  static constexpr const char* name = "kl_div";
  template <class V>
  static constexpr V value(V x, V y) {
    const V above = x * log_ratio(x, y) - x + y;
    const V edge = select((x == V(0)) & (y >= V(0)), y, V(std::numeric_limits<float>::infinity()));
    return select((x != x) | (y != y), x + y, select((x > V(0)) & (y > V(0)), above, edge));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    return std::tuple{guarded(g, log_ratio(x, y)), guarded(g, V(1) - x / y)};
  }
};
// x log(x / y), the same at its ends
struct rel_entr : RealInexact {
  static constexpr const char* name = "rel_entr";
  template <class V>
  static constexpr V value(V x, V y) {
    const V above = x * log_ratio(x, y);
    const V edge = select((x == V(0)) & (y >= V(0)), V(0), V(std::numeric_limits<float>::infinity()));
    return select((x != x) | (y != y), x + y, select((x > V(0)) & (y > V(0)), above, edge));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    return std::tuple{guarded(g, log_ratio(x, y) + V(1)), guarded(g, -(x / y))};
  }
};

}  // namespace rules
NAX_END
