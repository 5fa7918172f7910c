#pragma once

#include "nax/rules/scalar_lanes.hpp"

// Incomplete gamma and beta functions and their relatives.
NAX_BEGIN
namespace rules {

// Derivative number `order` by a of the regularised lower incomplete gamma function; of the upper one; of the
// density of which they are the integrals. The order is not differentiated.
struct gammainc : RealInexact {
  static constexpr const char* name = "gammainc";
  template <class V>
  static constexpr V value(V order, V a, V x) {
    using math::gammainc_at;
    return gammainc_at(order, a, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V order, V a, V x, V) {
    using math::gammainc_at, math::gamma_density_at;
    return std::tuple{V(0), guarded(g, gammainc_at(order + V(1), a, x)),
                      guarded(g, gamma_density_at(order, a, x))};
  }
};
struct gammaincc : RealInexact {
  static constexpr const char* name = "gammaincc";
  template <class V>
  static constexpr V value(V order, V a, V x) {
    using math::gammaincc_at;
    return gammaincc_at(order, a, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V order, V a, V x, V) {
    using math::gammaincc_at, math::gamma_density_at;
    return std::tuple{V(0), guarded(g, gammaincc_at(order + V(1), a, x)),
                      guarded(g, -gamma_density_at(order, a, x))};
  }
};
struct gamma_density : RealInexact {
  static constexpr const char* name = "gamma_density";
  template <class V>
  static constexpr V value(V order, V a, V x) {
    using math::gamma_density_at;
    return gamma_density_at(order, a, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V order, V a, V x, V y_) {
    using math::gamma_density_at;
    return std::tuple{
        V(0), guarded(g, gamma_density_at(order + V(1), a, x)),
        guarded(g, y_ * ((a - V(1)) / x - V(1)) + order * gamma_density_at(order - V(1), a, x) / x)};
  }
};
// The sign of the gamma function.
struct gammasgn : RealInexact {
  static constexpr const char* name = "gammasgn";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x) {
    using math::gammasgn_at;
    return gammasgn_at(x);
  }
};
// Gamma(z + m) / Gamma(z)
struct poch : RealInexact {
  static constexpr const char* name = "poch";
  template <class V>
  static constexpr V value(V z, V m) {
    using math::poch_at;
    return poch_at(z, m);
  }
  template <class V>
  static constexpr auto vjp(V g, V z, V m, V y_) {
    using math::polygamma_at;
    return std::tuple{guarded(g, y_ * (polygamma_at(V(0), z + m) - polygamma_at(V(0), z))),
                      guarded(g, y_ * polygamma_at(V(0), z + m))};
  }
};
// Gamma(n + 1), 0 below 0
struct factorial : RealInexact {
  static constexpr const char* name = "factorial";
  template <class V>
  static constexpr V value(V n) {
    using math::tgamma;
    return select(n < V(0), V(0), tgamma(n + V(1)));
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V y_) {
    using math::polygamma_at;
    return std::tuple{guarded(g, y_ * polygamma_at(V(0), n + V(1)))};
  }
};
// log(Gamma(x)), NaN below 0, where the gamma function is negative or its logarithm another branch's
struct loggamma : RealInexact {
  static constexpr const char* name = "loggamma";
  template <class V>
  static constexpr V value(V x) {
    using math::lgamma;
    return select(x < V(0), V(std::numeric_limits<float>::quiet_NaN()), lgamma(x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::polygamma_at;
    return std::tuple{guarded(g, polygamma_at(V(0), x))};
  }
};
struct beta : RealInexact {
  static constexpr const char* name = "beta";
  template <class V>
  static constexpr V value(V a, V b) {
    using math::beta_at;
    return beta_at(a, b);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V y_) {
    using math::polygamma_at;
    return std::tuple{guarded(g, y_ * (polygamma_at(V(0), a) - polygamma_at(V(0), a + b))),
                      guarded(g, y_ * (polygamma_at(V(0), b) - polygamma_at(V(0), a + b)))};
  }
};
struct betaln : RealInexact {
  static constexpr const char* name = "betaln";
  template <class V>
  static constexpr V value(V a, V b) {
    using math::betaln_at;
    return betaln_at(a, b);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V) {
    using math::polygamma_at;
    return std::tuple{guarded(g, polygamma_at(V(0), a) - polygamma_at(V(0), a + b)),
                      guarded(g, polygamma_at(V(0), b) - polygamma_at(V(0), a + b))};
  }
};
// The regularised incomplete beta function. a and b are not differentiated: who calls this sees to it.
struct betainc : RealInexact {
  static constexpr const char* name = "betainc";
  template <class V>
  static constexpr V value(V a, V b, V x) {
    using math::betainc_at;
    return betainc_at(a, b, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V x, V) {
    using math::beta_density_at;
    return std::tuple{V(0), V(0), guarded(g, beta_density_at(a, b, x))};
  }
};
struct beta_density : RealInexact {
  static constexpr const char* name = "beta_density";
  template <class V>
  static constexpr V value(V a, V b, V x) {
    using math::beta_density_at;
    return beta_density_at(a, b, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V a, V b, V x, V y_) {
    using std::log, std::log1p, math::polygamma_at;
    return std::tuple{guarded(g, y_ * (log(x) - polygamma_at(V(0), a) + polygamma_at(V(0), a + b))),
                      guarded(g, y_ * (log1p(-x) - polygamma_at(V(0), b) + polygamma_at(V(0), a + b))),
                      guarded(g, y_ * ((a - V(1)) / x - (b - V(1)) / (V(1) - x)))};
  }
};
// n choose k
struct comb : RealInexact {
  static constexpr const char* name = "comb";
  template <class V>
  static constexpr V value(V n, V k) {
    using math::comb_at;
    return comb_at(n, k);
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V k, V y_) {
    using math::polygamma_at;
    return std::tuple{guarded(g, y_ * (polygamma_at(V(0), n + V(1)) - polygamma_at(V(0), n - k + V(1)))),
                      guarded(g, y_ * (polygamma_at(V(0), n - k + V(1)) - polygamma_at(V(0), k + V(1))))};
  }
};

}  // namespace rules
NAX_END
