#pragma once

// Everything a rule may ask of a Packet<T>. What has no vector form here goes lane by lane to the function of
// std.

#include "nax/backend/cpu/packets/packet_arithmetic.hpp"
#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/backend/cpu/packets/packet_exp.hpp"
#include "nax/backend/cpu/packets/packet_gamma.hpp"
#include "nax/backend/cpu/packets/packet_power.hpp"
#include "nax/backend/cpu/packets/packet_special.hpp"
#include "nax/backend/cpu/packets/packet_trig.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <class T>
Packet<T> fmod(Packet<T> x, Packet<T> y) {
  return detail::by_lanes([](T a, T b) { return std::fmod(a, b); }, x, y);
}
template <class T>
Packet<T> remainder(Packet<T> x, Packet<T> y) {
  return detail::by_lanes([](T a, T b) { return std::remainder(a, b); }, x, y);
}
template <class T>
Packet<T> nextafter(Packet<T> x, Packet<T> y) {
  return detail::by_lanes([](T a, T b) { return std::nextafter(a, b); }, x, y);
}
// sqrt(x^2 + y^2) without overflow or underflow on the way.
template <template <class> class P, class T>
P<T> hypot(P<T> x, P<T> y) {
  constexpr bool single = std::is_same_v<T, float>;
  constexpr T big = single ? T(0x1p60f) : T(0x1p500), little = single ? T(0x1p-40f) : T(0x1p-450);
  constexpr T down = single ? T(0x1p-70f) : T(0x1p-600), up = single ? T(0x1p90f) : T(0x1p600);
  const P<T> one(1), inf(infinity<T>), ax = abs(x), ay = abs(y), most = max(ax, ay);
  const auto large = most > P<T>(big), tiny = most < P<T>(little);
  const P<T> s = select(large, P<T>(down), select(tiny, P<T>(up), one));
  const P<T> back = select(large, P<T>(1 / down), select(tiny, P<T>(1 / up), one));
  const P<T> a = ax * s, b = ay * s;
  const P<T> y0 = sqrt(fma(a, a, b * b)) * back;
  return select(ax == inf || ay == inf, inf, y0);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
