#pragma once

#include "nax/rules/special_math.hpp"

NAX_BEGIN
namespace rules {

struct erf : Inexact {
  static constexpr const char* name = "erf";
  template <class V>
  static constexpr V value(V x) {
    using std::erf;
    return erf(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::exp;
    return std::tuple{g * exp(-(x * x)) * V(1.12837916709551257390)};
  }
};
struct erfc : Inexact {
  static constexpr const char* name = "erfc";
  template <class V>
  static constexpr V value(V x) {
    using std::erfc;
    return erfc(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::exp;
    return std::tuple{g * exp(-(x * x)) * V(-1.12837916709551257390)};
  }
};
struct erfinv : Inexact {
  static constexpr const char* name = "erfinv";
  template <class V>
  static constexpr V value(V x) {
    if constexpr (std::is_same_v<decltype(uniform(x)), float>)
      return detail::giles_erfinv<float>(x);
    else
      return math::erfinv_double(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    using std::exp;
    return std::tuple{guarded(g, exp(y * y) * V(0.88622692545275801365))};
  }
};
// The distribution function of the standard normal.
struct ndtr : Inexact {
  static constexpr const char* name = "ndtr";
  template <class V>
  static constexpr V value(V x) {
    using std::erfc;
    return V(0.5) * erfc(x * V(-0.70710678118654752440));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::exp;
    return std::tuple{g * exp(V(-0.5) * x * x) * V(0.39894228040143267794)};
  }
};

struct lgamma : Inexact {
  static constexpr const char* name = "lgamma";
  template <class V>
  static constexpr V value(V x) {
    using math::lgamma;
    return lgamma(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::polygamma_at;
    return std::tuple{guarded(g, polygamma_at(V(0), x))};
  }
};
struct gamma : Inexact {
  static constexpr const char* name = "gamma";
  template <class V>
  static constexpr V value(V x) {
    using math::tgamma;
    return tgamma(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y) {
    using math::polygamma_at;
    return std::tuple{guarded(g, y * polygamma_at(V(0), x))};
  }
};
// The n-th derivative of digamma, which is the 0-th; n is not differentiated.
struct polygamma : Inexact {
  static constexpr const char* name = "polygamma";
  template <class V>
  static constexpr V value(V n, V x) {
    using math::polygamma_at;
    return polygamma_at(n, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V n, V x, V) {
    using math::polygamma_at;
    return std::tuple{V(0), guarded(g, polygamma_at(n + V(1), x))};
  }
};

// 1 / (1 + e^-x)
struct expit : Inexact {
  static constexpr const char* name = "expit";
  template <class V>
  static constexpr V value(V x) {
    using math::expit;
    return expit(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{g * y * (V(1) - y)};
  }
};
struct log_expit : Inexact {
  static constexpr const char* name = "log_expit";
  template <class V>
  static constexpr V value(V x) {
    using math::min, std::abs, std::exp, std::log1p;
    return min(x, V(0)) - log1p(exp(-abs(x)));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::expit;
    return std::tuple{g * expit(-x)};
  }
};
struct logit : Inexact {
  static constexpr const char* name = "logit";
  template <class V>
  static constexpr V value(V x) {
    using std::log;
    return log(x / (V(1) - x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{guarded(g, V(1) / (x * (V(1) - x)))};
  }
};

// x log(y), and 0 where x is 0.
struct xlogy : Inexact {
  static constexpr const char* name = "xlogy";
  template <class V>
  static constexpr V value(V x, V y) {
    using std::log;
    return select((x == V(0)) & (y == y), V(0), x * log(y));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    using std::log;
    return std::tuple{guarded(g, log(y)), guarded(g, x / y)};
  }
};
struct xlog1py : Inexact {
  static constexpr const char* name = "xlog1py";
  template <class V>
  static constexpr V value(V x, V y) {
    using std::log1p;
    return select((x == V(0)) & (y == y), V(0), x * log1p(y));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    using std::log1p;
    return std::tuple{guarded(g, log1p(y)), guarded(g, x / (V(1) + y))};
  }
};
// -x log(x): 0 at 0, minus infinity below.
struct entr : Inexact {
  static constexpr const char* name = "entr";
  template <class V>
  static constexpr V value(V x) {
    using std::log;
    const V below = select(x < V(0), V(-std::numeric_limits<float>::infinity()), -(x * log(x)));
    return select(x == V(0), V(0), below);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::log;
    const V below = V(std::numeric_limits<float>::quiet_NaN());  // the second derivative there is 0
    return std::tuple{guarded(g, select(x < V(0), below, -(log(x) + V(1))))};
  }
};

}  // namespace rules
NAX_END
