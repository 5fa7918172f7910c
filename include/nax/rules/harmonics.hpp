#pragma once

#include "nax/rules/scalar_lanes.hpp"

// The parts of spherical harmonics.
NAX_BEGIN
namespace rules {

// The spherical harmonic of degree n and order m at longitude 0. Only theta is differentiated: the derivative
// is a sum of those of the orders beside m.
struct spherical_legendre : RealInexact {
  static constexpr const char* name = "sph_harm_y";
  template <class V>
  static constexpr V value(V n, V m, V theta) {
    using math::spherical_legendre_at;
    return spherical_legendre_at(n, m, theta);
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V m, V theta, V) {
    using math::spherical_legendre_at;
    using std::sin, std::sqrt;
    const auto root = [](V x) { return V(sqrt(select(x > V(0), x, V(0)))); };
    const V up = root((n - m) * (n + m + V(1))), down = root((n + m) * (n - m + V(1)));
    const V slope =
        up * spherical_legendre_at(n, m + V(1), theta) - down * spherical_legendre_at(n, m - V(1), theta);
    return std::tuple{V(0), V(0), guarded(g, select(sin(theta) < V(0), V(-0.5), V(0.5)) * slope)};
  }
};

}  // namespace rules
NAX_END
