#pragma once

#include "nax/rules/special_math.hpp"

// Draws from the gamma distribution as functions of its parameter alpha: the probability P(alpha, x) of what
// a draw is stays as it is while alpha moves, and with it x ("implicit reparameterisation", Figurnov et al.,
// 2018).
NAX_BEGIN
namespace rules {
namespace math {

// The first two derivatives by alpha, at a fixed x, of the logarithm L of a draw.
template <class Double>
struct GammaSlopes {
  Double first = std::numeric_limits<Double>::quiet_NaN(), second = first;
  Double along = first;  // the derivative of the first by L
};

// A number and its first two derivatives by alpha.
template <class Double>
struct Jet2 {
  Double value, first, second;
};

// Let q = x^alpha e^-x / Gamma(alpha), which is the derivative of P by L. Then P = q S where S is the sum
// over n of x^n / (alpha (alpha + 1) ... (alpha + n)), and 1 - P = q F with Legendre's continued fraction F.
// The slope is -(dP / dalpha) / q.
template <class Double>
constexpr GammaSlopes<Double> gamma_slopes(Double alpha, Double log_x) {
  const Double x = std::exp(log_x);
  GammaSlopes<Double> out;
  if (!(alpha > 0) || !(x <= std::numeric_limits<Double>::max())) return out;
  if (alpha > 1e4) {
    // The quantile's expansion in 1 / sqrt(alpha) (Cornish and Fisher), for the normal quantile z of P.
    const Double r = std::sqrt(alpha);
    const auto terms = [](Double z, Double* c) {
      const Double z2 = z * z;
      c[0] = z, c[1] = (z2 - 1) / 3, c[2] = z * (z2 - 7) / 36;
      c[3] = -((3 * z2 + 7) * z2 - 16) / 810, c[4] = z * ((9 * z2 + 256) * z2 - 433) / 38880;
    };
    Double c[5], z = (x - alpha) / r;
    for (int i = 0; i < 8; ++i) {
      terms(z, c);
      z = (x - alpha) / r - (c[1] + (c[2] + (c[3] + c[4] / r) / r) / r) / r;
    }
    terms(z, c);
    const Double dx = 1 + (c[0] / 2 - (c[2] / 2 + (c[3] + 1.5 * c[4] / r) / r) / alpha) / r;
    const Double ddx = (-c[0] / 4 + (c[2] * 3 / 4 + (2 * c[3] + 3.75 * c[4] / r) / r) / alpha) / (r * alpha);
    out.first = dx / x;
    out.along = -(log_x - digamma(alpha)) - out.first * (alpha - x);
    out.second = ddx / x - out.first * out.first - out.along * out.first;
    return out;
  }
  if (x < alpha + 1) {
    // By psi(alpha + 1) = psi(alpha) + 1 / alpha, whose poles cancel; sums of c_n, c_n h_n and c_n (h_n^2 +
    // k_n) with h_n, k_n the sums of 1 / (alpha + i) and its square over i = 1 ... n.
    const Double from = log_x - digamma(alpha + 1), bend = polygamma(Double(1), alpha + 1);
    Double c = 1 / alpha, s = c, s1 = 0, s2 = 0, h = 0, k = 0;
    for (int n = 1; n < 100000; ++n) {
      const Double step = 1 / (alpha + n);
      c *= x * step, h += step, k += step * step;
      s += c, s1 -= c * h, s2 += c * (h * h + k);
      if (c * h * h <= s2 * 1e-17 && c <= s * 1e-17) break;
    }
    out.first = -(from * s + s1);
    out.along = -(from + 1 / alpha) - out.first * (alpha - x);
    // d/dalpha at a fixed L of q(alpha) / q0 = exp(alpha L - lgamma(alpha + 1)), times the sums times alpha.
    const Double a0 = s * alpha, a1 = s1 * alpha, a2 = s2 * alpha;
    const Double second = (from * from - bend) * a0 + 2 * from * a1 + a2;  // P'' / (q alpha)
    out.second = -second / alpha - out.first * (from + 1 / alpha);
    return out;
  }
  const Double from = log_x - digamma(alpha), bend = polygamma(Double(1), alpha);
  const int depth = 40 + static_cast<int>(6 * std::sqrt(alpha) + 200 / (1 + (x - alpha)));
  Jet2<Double> r{x + 2 * depth + 1 - alpha, -1, 0};
  for (int k = depth; k > 0; --k) {  // b - a / r with a = k (k - alpha)
    const Double a = k * (k - alpha), a1 = -k, w = 1 / r.value;
    const Double w1 = -r.first * w * w, w2 = (2 * r.first * r.first * w - r.second) * w * w;
    r = {x + 2 * k - 1 - alpha - a * w, -1 - (a1 * w + a * w1), -(2 * a1 * w1 + a * w2)};
  }
  const Double f = 1 / r.value, f1 = -r.first * f * f, f2 = (2 * r.first * r.first * f - r.second) * f * f;
  out.first = from * f + f1;
  out.along = -from - out.first * (alpha - x);
  out.second = (from * from - bend) * f + 2 * from * f1 + f2 - out.first * from;
  return out;
}

template <class V>
constexpr V gamma_slope_at(V alpha, V log_x) {
  using T = decltype(uniform(alpha));
  return by_lanes([](T a, T l) { return static_cast<T>(gamma_slopes<double>(a, l).first); }, alpha, log_x);
}
template <class V>
constexpr V gamma_slope_second_at(V alpha, V log_x) {
  using T = decltype(uniform(alpha));
  return by_lanes([](T a, T l) { return static_cast<T>(gamma_slopes<double>(a, l).second); }, alpha, log_x);
}
template <class V>
constexpr V gamma_slope_along_at(V alpha, V log_x) {
  using T = decltype(uniform(alpha));
  return by_lanes([](T a, T l) { return static_cast<T>(gamma_slopes<double>(a, l).along); }, alpha, log_x);
}

}  // namespace math

// The derivative by alpha of the logarithm of a draw, and that one's derivatives. These have none: NaN.
struct gamma_slope_along : Inexact {
  static constexpr const char* name = "loggamma";
  template <class V>
  static constexpr V value(V alpha, V log_x) {
    return math::gamma_slope_along_at(alpha, log_x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    const V unknown = g * V(std::numeric_limits<float>::quiet_NaN());
    return std::tuple{unknown, unknown};
  }
};
struct gamma_slope_second : gamma_slope_along {
  template <class V>
  static constexpr V value(V alpha, V log_x) {
    return math::gamma_slope_second_at(alpha, log_x);
  }
};
struct gamma_slope : Inexact {
  static constexpr const char* name = "loggamma";
  template <class V>
  static constexpr V value(V alpha, V log_x) {
    return math::gamma_slope_at(alpha, log_x);
  }
  template <class V>
  static constexpr auto vjp(V g, V alpha, V log_x, V) {
    using math::gamma_slope_along_at, math::gamma_slope_second_at;
    return std::tuple{guarded(g, gamma_slope_second_at(alpha, log_x)),
                      guarded(g, gamma_slope_along_at(alpha, log_x))};
  }
};

// A draw, or its logarithm, as a function of alpha: the second operand, which is no variable.
struct loggamma_draw : Inexact {
  static constexpr const char* name = "loggamma";
  template <class V>
  static constexpr V value(V, V drawn) {
    return drawn;
  }
  template <class V>
  static constexpr auto vjp(V g, V alpha, V, V y) {
    using math::gamma_slope_at;
    return std::tuple{guarded(g, gamma_slope_at(alpha, y)), V(0)};
  }
};
struct gamma_draw : Inexact {
  static constexpr const char* name = "gamma";
  template <class V>
  static constexpr V value(V, V drawn) {
    return drawn;
  }
  // Of a draw that is 0, being too small for its type, the derivative is 0 as well.
  template <class V>
  static constexpr auto vjp(V g, V alpha, V, V y) {
    using math::gamma_slope_at, std::log;
    const V there = select(y == V(0), V(1), y);
    return std::tuple{guarded(g, y * gamma_slope_at(alpha, log(there))), V(0)};
  }
};

}  // namespace rules
NAX_END
