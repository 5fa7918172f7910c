#pragma once

// The gamma function, its logarithm and the derivative of that on packets.

#include "nax/backend/cpu/packets/packet_power.hpp"
#include "nax/rules/special_math.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

// log(gamma(x)) of widened floats in (0, infinity). From 4.5 on by Stirling's series; below, with t in [3/2,
// 5/2] a whole number away from x, by a polynomial for t and the logarithm of a product.
template <class D>
D lgamma_of_float(D x) {
  // lgamma(2 + u) / u on [-1/2, 1/2]
  static constexpr double nearby[] = {0.42278433510629798,    0.3224670336618144,     -0.067352302735345412,
                                      0.020580789137810439,   -0.0073854916765375804, 0.0028909445841277578,
                                      -0.0011935203502301669, 0.0005057193250696838,  -0.00021874151858372704,
                                      0.00011489350557322953, -5.6192067418768397e-05};
  static constexpr double series[] = {0.083333317859880088, -0.0027761069209472759, 0.00073875777389419562};
  const D one(1), most(2.5);
  const auto large = x > D(4.5), little = x < D(1.5), least = x < D(0.5);
  D t = x, product = one;
  for (int step = 0; step < 2; ++step) {
    const auto above = t > most;
    const D before = t - one;
    product = select(above, product * before, product);
    t = select(above, before, t);
  }
  const D next = x + one;
  t = select(least, next + one, select(little, next, t));
  product = select(least, x * next, select(little, x, product));
  const D log = log2_of_float(select(large, x, product)) * D(0.69314718055994530942);
  const D u = t - D(2), polynomial_of_t = u * polynomial(u, nearby);
  const D below = select(little, polynomial_of_t - log, polynomial_of_t + log);
  const D inverse = one / x;
  const D above =
      fma(x - D(0.5), log, D(0.91893853320467274178) - x) + inverse * polynomial(inverse * inverse, series);
  return select(large, above, below);
}

// log(gamma(x)) by longer polynomials, to the precision of double; by Stirling's series from 7 on.
template <class D>
D lgamma_of_double(D x) {
  static constexpr double nearby[] = {
      0.42278433509846713,     0.32246703342411326,    -0.067352301053198144,   0.020580808427780335,
      -0.0073855510286680963,  0.002890510331036772,   -0.0011927539120033873,  0.00050966951534843735,
      -0.00022315475069647703, 9.945767440096764e-05,  -4.4926351667703418e-05, 2.0505584372896933e-05,
      -9.4384548840547232e-06, 4.3847319318293745e-06, -2.0449353231800521e-06, 9.1998980756713944e-07,
      -4.303234692956732e-07,  2.7880013392491846e-07, -1.341570273460026e-07};
  static constexpr double series[] = {1. / 12,        -1. / 360, 1. / 1260,       -1. / 1680,     1. / 1188,
                                      -691. / 360360, 1. / 156,  -3617. / 122400, 43867. / 244188};
  const D one(1), most(2.5);
  const auto large = x > D(7), little = x < D(1.5), least = x < D(0.5);
  D t = x, product = one;
  for (int step = 0; step < 5; ++step) {
    const auto above = t > most;
    const D before = t - one;
    product = select(above, product * before, product);
    t = select(above, before, t);
  }
  // Below 3/2 the distance to 1 is exact, and 1 is a root.
  const D u = select(least, x, select(little, x - one, t - D(2)));
  product = select(least, x * (x + one), select(little, x, product));
  const D logarithm = log(select(large, x, product));
  const D polynomial_of_u = u * polynomial(u, nearby);
  const D below = select(little, polynomial_of_u - logarithm, polynomial_of_u + logarithm);
  const D inverse = one / x;
  const D above = fma(x - D(0.5), logarithm, D(0.91893853320467274178) - x) +
                  inverse * polynomial(inverse * inverse, series);
  return select(large, above, below);
}

// The logarithmic derivative of gamma in (0, infinity]: the asymptotic series from 8 on, and below by eight
// steps of the recurrence as one fraction; about its root by a polynomial.
template <class D>
D digamma_of_positive(D x) {
  static constexpr double series[] = {1. / 12,       -1. / 120, 1. / 252,      -1. / 240,     1. / 132,
                                      -691. / 32760, 1. / 12,   -3617. / 8160, 43867. / 14364};
  const D one(1);
  const auto little = x < D(8);
  const D y = select(little, x + D(8), x), inverse = one / y, z = inverse * inverse;
  const D q = x * (x + D(7)), a = q * (q + D(6)), b = (q + D(10)) * (q + D(12));
  const D steps = (x + x + D(7)) * ((q + q + D(6)) / a + (q + q + D(22)) / b);
  const D distant = log(y) - D(0.5) * inverse - z * polynomial(z, series) - select(little, steps, D(0));
  const D u = (x - D(rules::math::digamma_root)) - D(rules::math::digamma_root_rest);
  const auto is_near = abs(u) < D(0.45);
  constexpr rules::math::DigammaNear nearby;
  return select(is_near, u * polynomial(u, nearby.at), distant);
}

}  // namespace detail

// Positive numbers by polynomials, floats in double; others, which have poles and roots among them, by lanes.
template <class T>
Packet<T> lgamma(Packet<T> x) {
  const auto by_std = [](T v) {
#ifdef __GLIBC__
    int sign;  // std::lgamma writes it to a global variable, which threads would race for
    if constexpr (std::is_same_v<T, float>)
      return ::lgammaf_r(v, &sign);
    else
      return ::lgamma_r(v, &sign);
#else
    return rules::math::lgamma(v);
#endif
  };
  if constexpr (detail::widens && std::is_same_v<T, float>) {
    const auto wide = detail::widen(x);
    const Packet<T> y =
        detail::narrow({detail::lgamma_of_float(wide.low), detail::lgamma_of_float(wide.high)});
    const Mask<T> positive = (x > Packet<T>(0)) & (x < Packet<T>(infinity<T>));
    if (all(positive)) return y;
    return select(positive, y, detail::by_lanes([&](T v) { return v > 0 && v - v == 0 ? v : by_std(v); }, x));
  } else if constexpr (std::is_same_v<T, double>) {
    const Packet<T> y = detail::lgamma_of_double(x);
    const Mask<T> positive = (x > Packet<T>(0)) & (x < Packet<T>(infinity<T>));
    if (all(positive)) return y;
    return select(positive, y, detail::by_lanes([&](T v) { return v > 0 && v - v == 0 ? v : by_std(v); }, x));
  } else {
    return detail::by_lanes(by_std, x);
  }
}
// Digamma of positive numbers in packets; other orders and numbers by lanes.
template <class T>
Packet<T> polygamma_at(Packet<T> n, Packet<T> x) {
  const auto by_number = [](T order, T v) {
    return static_cast<T>(rules::math::polygamma<double>(static_cast<double>(order), static_cast<double>(v)));
  };
  if (!all(n == Packet<T>(0))) return detail::by_lanes(by_number, n, x);
  Packet<T> y;
  if constexpr (std::is_same_v<T, double>) {
    y = detail::digamma_of_positive(x);
  } else if constexpr (detail::widens) {
    const auto wide = detail::widen(x);
    y = detail::narrow({detail::digamma_of_positive(wide.low), detail::digamma_of_positive(wide.high)});
  } else {
    return detail::by_lanes(by_number, n, x);
  }
  const Mask<T> positive = x > Packet<T>(0);
  if (all(positive)) return y;
  return select(positive, y,
                detail::by_lanes([&](T order, T v) { return v > 0 ? v : by_number(order, v); }, n, x));
}
template <class T>
Packet<T> tgamma(Packet<T> x) {
  return detail::by_lanes([](T v) { return rules::math::tgamma(v); }, x);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
