#pragma once

// Powers and cube roots on packets.

#include "nax/backend/cpu/packets/packet_special.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

// log2(x) of widened floats: the relative error is below 2^-35, and x must not be negative.
template <class D>
D log2_of_float(D x) {
  // log2(1 + f) / f on [-1/4, 1/2]
  static constexpr double c[] = {1.4426950409107202,   -0.72134752082783704, 0.48089833259592718,
                                 -0.36067365412706964, 0.28854043309928301,  -0.24045838923713894,
                                 0.20605664172578528,  -0.18000394584980411, 0.16050689332643017,
                                 -0.14921139388365023, 0.13877155729843499,  -0.10198837467191399,
                                 0.037954930403233958};
  D e;
  const D f = split(x, e) - D(1);
  const D y = fma(f, polynomial(f, c), e);
  return select(x == D(0), D(-infinity<double>), select(x < D(infinity<double>), y, x));
}

// 2^x for what becomes a float: the relative error is below 2^-34.
template <class D>
D exp2_to_float(D x) {
  // on [-1/2, 1/2]
  static constexpr double c[] = {0.99999999996169087,    0.69314718072881953,   0.24022651198092754,
                                 0.055504103522325335,   0.0096180272606183025, 0.0013333923547259455,
                                 0.00015469289282893205, 1.5201695007445882e-05};
  x = clamp(x, D(-200), D(200));
  const D k = nearest(x, D(1));
  return scale(polynomial(x - k, c), k);
}

}  // namespace detail

// As IEEE 754 has it: pow(x, 0) and pow(1, y) are 1 even for NaN, a negative x needs a whole y. float is
// computed in double, which makes it right to the last place almost always.
template <class T>
Packet<T> pow(Packet<T> x, Packet<T> y) {
  if constexpr (detail::widens && std::is_same_v<T, float>) {
    const Packet<T> zero(0), one(1), ax = abs(x);
    const auto base = detail::widen(ax), exponent = detail::widen(y);
    Packet<T> r = detail::narrow({detail::exp2_to_float(exponent.low * detail::log2_of_float(base.low)),
                                  detail::exp2_to_float(exponent.high * detail::log2_of_float(base.high))});
    const Mask<T> whole = rint(y) == y;
    const Packet<T> half = y * Packet<T>(T(0.5));
    const Mask<T> odd = whole & (rint(half) != half);
    r = select(signbit(x) & odd, -r, r);
    r = select((x < zero) & !whole & (ax < Packet<T>(infinity<T>)), Packet<T>(nan<T>), r);
    const Mask<T> unit = (y == zero) | (x == one) | ((ax == one) & isinf(y));
    return select(unit, one, r);
  } else {
    return detail::by_lanes([](T a, T b) { return std::pow(a, b); }, x, y);
  }
}

// x = m 8^q with m in [3/8, 3): a polynomial for m^(-1/3), a step that triples its digits, and one that
// corrects y = cbrt(m) by what is left of m - y^3.
template <template <class> class P, class T>
P<T> cbrt(P<T> x) {
  static constexpr T start[] = {T(1.9602025329460822),  T(-2.2976876822902779), T(2.4327908111629486),
                                T(-1.5589649582564526), T(0.54252595443379248), T(-0.078868249591458786)};
  const P<T> zero(0), one(1), third(T(1. / 3)), ax = abs(x);
  P<T> e;
  using detail::scale, detail::split;
  P<T> m = split(ax, e);
  const P<T> q = rint(e * third), rest = e - (q + q + q);  // -1, 0 or 1
  P<T> r = detail::polynomial(m, start);
  const auto more = rest > zero, less = rest < zero;
  r = r * select(more, P<T>(T(0.79370052598409973738)), select(less, P<T>(T(1.2599210498948731648)), one));
  m = m * select(more, P<T>(2), select(less, P<T>(T(0.5)), one));
  const P<T> h = fma(-(m * r), r * r, one);
  r = fma(r * h, fma(h, P<T>(T(2. / 9)), third), r);
  const P<T> r2 = r * r, y = m * r2, square = y * y;
  const P<T> left = fma(-square, y, m) - fma(y, y, -square) * y;
  const P<T> root = scale(fma(left * third, r2, y), q);
  return copysign(select((ax > zero) & (ax < P<T>(infinity<T>)), root, ax), x);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
