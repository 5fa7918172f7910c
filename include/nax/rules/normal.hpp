#pragma once

#include "nax/rules/scalar_lanes.hpp"

// Relatives of the error function.
NAX_BEGIN
namespace rules {

struct erfcx : RealInexact {
  static constexpr const char* name = "erfcx";
  template <class V>
  static constexpr V value(V x) {
    using math::erfcx_at;
    return erfcx_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y_) {
    return std::tuple{guarded(g, V(2) * x * y_ - V(1.12837916709551257390))};
  }
};
struct dawsn : RealInexact {
  static constexpr const char* name = "dawsn";
  template <class V>
  static constexpr V value(V x) {
    using math::dawsn_at;
    return dawsn_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y_) {
    return std::tuple{guarded(g, V(1) - V(2) * x * y_)};
  }
};
struct log_ndtr : RealInexact {
  static constexpr const char* name = "log_ndtr";
  template <class V>
  static constexpr V value(V x) {
    using math::log_ndtr_at;
    return log_ndtr_at(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::erfcx_at;
    return std::tuple{guarded(g, V(0.79788456080286535588) / erfcx_at(x * V(-0.70710678118654752440)))};
  }
};
struct ndtri : RealInexact {
  static constexpr const char* name = "ndtri";
  template <class V>
  static constexpr V value(V p) {
    using math::ndtri_at;
    return ndtri_at(p);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y_) {
    using std::exp;
    return std::tuple{guarded(g, exp(V(0.5) * y_ * y_) * V(2.50662827463100050242))};
  }
};
struct owens_t : RealInexact {
  static constexpr const char* name = "owens_t";
  template <class V>
  static constexpr V value(V h, V a) {
    using math::owens_t_at;
    return owens_t_at(h, a);
  }
  template <class V>
  static constexpr auto vjp(V g, V h, V a, V) {
    using std::erfc, std::exp;
    return std::tuple{
        guarded(g, (erfc(a * h * V(0.70710678118654752440)) - V(1)) * exp(V(-0.5) * h * h) *
                       V(0.19947114020071633897)),
        guarded(g, exp(V(-0.5) * h * h * (V(1) + a * a)) / (V(6.28318530717958647693) * (V(1) + a * a)))};
  }
};

}  // namespace rules
NAX_END
