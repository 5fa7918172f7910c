#pragma once

#include "nax/rules/draw.hpp"
#include "nax/rules/giles.hpp"
#include "nax/rules/math.hpp"
#include "nax/rules/unit_interval.hpp"

// The inverse distribution functions of random numbers: of numbers u in the interval that is drawn from. T:
// the type of the draw; V: the type that it is computed in, or a packet of it.
NAX_BEGIN
namespace rules {
namespace detail {

using nax::detail::compute_t;

// Rounds a result computed in float to T.
template <class T, class V>
constexpr V rounded(V x) {
  if constexpr ((std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)&&std::is_arithmetic_v<V>) {
    return static_cast<V>(static_cast<T>(x));
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    alignas(64) float lanes[V::size];
    x.store(lanes);
    for (float& lane : lanes) lane = static_cast<T>(lane);
    return V::load(lanes);
  } else {
    return x;
  }
}

}  // namespace detail

struct NormalQuantile {
  static constexpr auto kind = nax::detail::DrawKind::normal;
  template <class T, class V>
  static constexpr V value(V u) {
    return V(static_cast<detail::compute_t<T>>(T(1.41421356237309504880))) *
           detail::rounded<T>(detail::giles_erfinv<detail::compute_t<T>>(u));
  }
};
struct GumbelQuantile {
  static constexpr auto kind = nax::detail::DrawKind::gumbel;
  template <class T, class V>
  static constexpr V value(V u) {
    using std::log;
    return -log(-log(u));
  }
};
struct ExponentialQuantile {
  static constexpr auto kind = nax::detail::DrawKind::exponential;
  template <class T, class V>
  static constexpr V value(V u) {
    using std::log1p;
    return -log1p(-u);
  }
};
struct LaplaceQuantile {
  static constexpr auto kind = nax::detail::DrawKind::laplace;
  template <class T, class V>
  static constexpr V value(V u) {
    using std::abs, std::log1p;
    const V size = log1p(-abs(u));
    return select(u < V(0), -size, select(u > V(0), size, u));
  }
};
struct LogisticQuantile {
  static constexpr auto kind = nax::detail::DrawKind::logistic;
  template <class T, class V>
  static constexpr V value(V u) {
    using std::log, std::log1p;
    return log(u) - log1p(-u);
  }
};
struct CauchyQuantile {
  static constexpr auto kind = nax::detail::DrawKind::cauchy;
  template <class T, class V>
  static constexpr V value(V u) {
    using std::tan;
    return tan(V(3.14159265358979323846) * (u - V(0.5)));
  }
};

template <class T>
struct ClippedNormalQuantile {
  static constexpr auto kind = nax::detail::DrawKind::clipped_normal;
  detail::compute_t<T> low, high;
  template <class, class V>
  constexpr V value(V u) const {
    const V x = NormalQuantile::value<T>(u);
    return select(x < V(low), V(low), select(x > V(high), V(high), x));
  }
};

}  // namespace rules
NAX_END
