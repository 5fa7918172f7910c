#pragma once

// The gamma function and its logarithm on packets.

#include "nax/backend/cpu/packet_power.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

// log(gamma(x)) of widened floats in (0, infinity). From 4.5 on by Stirling's series; below, with t in [3/2,
// 5/2] a whole number away from x, by a polynomial for t and the logarithm of a product.
template <class D>
D lgamma_of_float(D x) {
  // lgamma(2 + u) / u on [-1/2, 1/2]
  static constexpr double near[] = {0.42278433510629798,    0.3224670336618144,     -0.067352302735345412,
                                    0.020580789137810439,   -0.0073854916765375804, 0.0028909445841277578,
                                    -0.0011935203502301669, 0.0005057193250696838,  -0.00021874151858372704,
                                    0.00011489350557322953, -5.6192067418768397e-05};
  static constexpr double series[] = {0.083333317859880088, -0.0027761069209472759, 0.00073875777389419562};
  const D one(1), most(2.5);
  const auto large = x > D(4.5), small = x < D(1.5), least = x < D(0.5);
  D t = x, product = one;
  for (int step = 0; step < 2; ++step) {
    const auto above = t > most;
    const D before = t - one;
    product = select(above, product * before, product);
    t = select(above, before, t);
  }
  const D next = x + one;
  t = select(least, next + one, select(small, next, t));
  product = select(least, x * next, select(small, x, product));
  const D log = log2_of_float(select(large, x, product)) * D(0.69314718055994530942);
  const D u = t - D(2), polynomial_of_t = u * polynomial(u, near);
  const D below = select(small, polynomial_of_t - log, polynomial_of_t + log);
  const D inverse = one / x;
  const D above =
      fma(x - D(0.5), log, D(0.91893853320467274178) - x) + inverse * polynomial(inverse * inverse, series);
  return select(large, above, below);
}

}  // namespace detail

// Positive floats in double; others, which have poles and roots among them, by lanes.
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
    return std::lgamma(v);
#endif
  };
  if constexpr (detail::widens && std::is_same_v<T, float>) {
    const auto wide = detail::widen(x);
    const Packet<T> y =
        detail::narrow({detail::lgamma_of_float(wide.low), detail::lgamma_of_float(wide.high)});
    const Mask<T> positive = (x > Packet<T>(0)) & (x < Packet<T>(infinity<T>));
    if (all(positive)) return y;
    return select(positive, y, detail::by_lanes([&](T v) { return v > 0 && v - v == 0 ? v : by_std(v); }, x));
  } else {
    return detail::by_lanes(by_std, x);
  }
}
template <class T>
Packet<T> tgamma(Packet<T> x) {
  return detail::by_lanes([](T v) { return std::tgamma(v); }, x);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
