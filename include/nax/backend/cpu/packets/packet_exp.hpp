#pragma once

// Exponentials, logarithms and hyperbolic functions on packets, float and double alike. Each reduces its
// argument by powers of two and ends in a minimax polynomial (fitted so that its error is a fraction of the
// rounding).
//
// Functions over P<T> are written on a few steps that a packet type provides: arithmetic, comparisons, scale,
// split, limited. Packet is one such type; formula/symbol.hpp has another, which writes the steps down.

#include <iterator>

#include "nax/backend/cpu/packets/packet_arithmetic.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float lowest = -104.0f, highest = 89.0f;  // beyond: 0 and infinity
  static constexpr float expm1_lowest = -18.0f;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
  static constexpr float polynomial[] = {0.49999997f, 0.16666545f, 0.0416675024f, 0.00836639665f,
                                         0.00138644944f};
  // (log(1 + f) - f + f^2 / 2) / f^3 on [-1/4, 1/2]
  static constexpr float log_polynomial[] = {0.333334506f, -0.250001013f, 0.199908137f, -0.16647099f,
                                             0.14478606f,  -0.131631956f, 0.104658112f, -0.0450846143f};
  static constexpr float smallest_normal = 1.17549435e-38f, up = 8388608.0f, up_exponent = 23,
                         magic = 12582912.0f;
};

template <>
struct ExpConstants<double> {
  static constexpr double lowest = -746.0, highest = 710.0;
  static constexpr double expm1_lowest = -38.0;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double polynomial[] = {
      0.50000000000000056,    0.1666666666666661,     0.041666666666573808, 0.0083333333333761271,
      0.0013888888932305271,  0.00019841269748156111, 2.48015045337181e-05, 2.7557381428817971e-06,
      2.7626294175717534e-07, 2.5062064692039361e-08};
  static constexpr double log_polynomial[] = {
      0.33333333333333748,  -0.25000000000010569,  0.19999999999850493,  -0.16666666663802382,
      0.14285714299928276,  -0.12500000290444419,  0.11111110771786059,  -0.099999855485165531,
      0.090908930806416405, -0.083337044081005104, 0.076933858436006641, -0.071385782499842287,
      0.066433709896989532, -0.062499153528650514, 0.060831028462063279, -0.059678345668383731,
      0.05068766493001977,  -0.029380145181415521, 0.0080873837295048698};
  static constexpr double smallest_normal = 2.2250738585072014e-308, up = 4503599627370496.0,
                          up_exponent = 52, magic = 6755399441055744.0;
};

// c[0] + c[1] x + c[2] x^2 ...: even and odd halves side by side, so that the chain of dependent steps is
// half as long.
template <template <class> class P, class T, std::size_t n>
P<T> polynomial(P<T> x, const T (&c)[n]) {
  if constexpr (n < 4) {
    P<T> sum(c[n - 1]);
    for (std::size_t i = n - 1; i-- > 0;) sum = fma(sum, x, P<T>(c[i]));
    return sum;
  } else {
    const P<T> x2 = x * x;
    constexpr std::size_t last_even = (n - 1) / 2 * 2, last_odd = (n - 2) / 2 * 2 + 1;
    P<T> even(c[last_even]), odd(c[last_odd]);
    for (std::size_t i = last_even; i >= 2; i -= 2) even = fma(even, x2, P<T>(c[i - 2]));
    for (std::size_t i = last_odd; i >= 3; i -= 2) odd = fma(odd, x2, P<T>(c[i - 2]));
    return fma(odd, x, even);
  }
}

// (e^2r - 1 - 2 r) / (2 r^2), from ExpConstants' polynomial.
template <class T>
struct DoubledPolynomial {
  T c[std::size(ExpConstants<T>::polynomial)];
};
template <class T>
constexpr DoubledPolynomial<T> polynomial_of_double() {
  DoubledPolynomial<T> result{};
  T power = 2;
  for (std::size_t i = 0; i < std::size(result.c); ++i, power *= 2)
    result.c[i] = power * ExpConstants<T>::polynomial[i];
  return result;
}

// a * 2^k for whole k, rounded once.
template <class T>
Packet<T> scale(Packet<T> a, Packet<T> k) {
  return Packet<T>(Registers<T>::scale(a.raw, k.raw));
}

// Whether split marks x that are no positive numbers: a negative one by NaN, 0 and infinity by infinite e.
template <class V>
inline constexpr bool split_marks = false;
#ifdef NAX_AVX512
template <class T>
inline constexpr bool split_marks<Packet<T>> = true;
#endif
// x = m * 2^e with m in [3/4, 3/2). Where it does not mark them, callers treat x that are no positive
// numbers.
template <class T>
Packet<T> split(Packet<T> x, Packet<T>& e) {
#ifdef NAX_AVX512
  const Packet<T> one(1);
  Packet<T> m;
  if constexpr (std::is_same_v<T, float>) {
    m.raw = _mm512_maskz_getmant_ps(Registers<T>::on, x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    e.raw = _mm512_maskz_getexp_ps(Registers<T>::on, x.raw);
    e.raw = _mm512_mask_add_ps(e.raw, (m < one).raw, e.raw, one.raw);
  } else {
    m.raw = _mm512_maskz_getmant_pd(Registers<T>::on, x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    e.raw = _mm512_maskz_getexp_pd(Registers<T>::on, x.raw);
    e.raw = _mm512_mask_add_pd(e.raw, (m < one).raw, e.raw, one.raw);
  }
  return m;
#else
  using C = ExpConstants<T>;
  const Mask<T> subnormal = x < Packet<T>(C::smallest_normal);
  x = select(subnormal, x * Packet<T>(C::up), x);
  const Packet<T> m(Registers<T>::split(x.raw, e.raw));
  e = e - select(subnormal, Packet<T>(C::up_exponent), Packet<T>(0));
  return m;
#endif
}

// The nearest whole number for |x| up to 2^21 (2^50); beyond, one that is about as large.
template <template <class> class P, class T>
P<T> nearest(P<T> x, P<T> factor) {
  const P<T> magic(ExpConstants<T>::magic);  // numbers of its size have no fraction
  return fma(x, factor, magic) - magic;
}

// e^x = (1 + q) * 2^k. Where k is beyond what results can have, or NaN, q is some number above -1.
// Whether a packet type has `limited`; without, x must be within the range of finite results.
template <class V>
inline constexpr bool limits_remainder = false;
#ifdef NAX_AVX512DQ
template <class T>
inline constexpr bool limits_remainder<Packet<T>> = true;
// r, or 1/2 with its sign where that is smaller or r is NaN.
template <class T>
Packet<T> limited(Packet<T> r) {
  const Packet<T> most(T(0.5));
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_range_ps(Registers<T>::on, r.raw, most.raw, 0b0010));
  else
    return Packet<T>(_mm512_maskz_range_pd(Registers<T>::on, r.raw, most.raw, 0b0010));
}
#endif
template <class V>
struct Reduced {
  V q, k;
};
template <template <class> class P, class T>
Reduced<P<T>> reduce_exp(P<T> x) {
  using C = ExpConstants<T>;
  const P<T> k = nearest(x, P<T>(T(1.4426950408889634074)));
  P<T> r;
  if constexpr (fused && std::is_same_v<T, float>) {
    r = fma(k, P<T>(-0.693147182464599609f), x);
    r = fma(k, P<T>(1.90465429995776804e-09f), r);
  } else {
    r = fma(k, P<T>(-C::ln2_high), x);
    r = fma(k, P<T>(-C::ln2_low), r);
  }
  if constexpr (limits_remainder<P<T>>) r = limited(r);
  return {fma(polynomial(r, C::polynomial), r * r, r), k};
}

// e^x / 2: no overflow before cosh overflows.
template <template <class> class P, class T>
P<T> half_exp(P<T> x) {
  using C = ExpConstants<T>;
  const auto [q, k] = reduce_exp(clamp(x, P<T>(C::lowest), P<T>(C::highest + 1)));
  return scale(q + P<T>(1), k - P<T>(1));
}
// (e^x - 1) / 2^down, for x that leaves 2^(k - down) finite.
template <int down, template <class> class P, class T>
P<T> expm1_over(P<T> x, T highest) {
  const auto [q, k] = reduce_exp(clamp(x, P<T>(ExpConstants<T>::expm1_lowest), P<T>(highest)));
  const P<T> s = scale(P<T>(1), down == 0 ? k : k - P<T>(T(down)));
  return fma(s, q, s - P<T>(T(1) / T(1 << down)));
}

// log(m) for m in [3/4, 3/2).
template <template <class> class P, class T>
P<T> log_mantissa(P<T> m) {
  const P<T> f = m - P<T>(1);
  return fma(f * f, fma(polynomial(f, ExpConstants<T>::log_polynomial), f, P<T>(T(-0.5))), f);
}

// e * (high + low) + factor * log(m), and what logarithms give for 0, infinity and negative numbers.
template <template <class> class P, class T>
P<T> log_of(P<T> x, T factor, T high, T low) {
  P<T> e;
  const P<T> m = split(x, e);
  P<T> y = log_mantissa(m);
  if (factor != 1) y = y * P<T>(factor);
  if (low != 0) y = fma(e, P<T>(low), y);
  y = fma(e, P<T>(high), y);
  if constexpr (split_marks<P<T>>) {
    return y;
  } else {
    const P<T> zero(0), inf(infinity<T>);
    const P<T> special = select(x == zero, -inf, select(x < zero, P<T>(nan<T>), x));  // inf and NaN stay
    return select(x > zero && x < inf, y, special);
  }
}

}  // namespace detail

// exp, log and tanh are always inlined: a call would spill every register of the kernel around it, and what a
// value and its derivative share would be computed twice.
template <template <class> class P, class T>
[[gnu::always_inline]] inline P<T> exp(P<T> x) {
  using C = detail::ExpConstants<T>;
  if constexpr (!detail::limits_remainder<P<T>>) x = clamp(x, P<T>(C::lowest), P<T>(C::highest));
  const auto [q, k] = detail::reduce_exp(x);
  using detail::scale;
  return scale(q + P<T>(1), k);
}

template <template <class> class P, class T>
P<T> exp2(P<T> x) {
  using C = detail::ExpConstants<T>;
  constexpr T log2e = T(1.4426950408889634074);
  x = clamp(x, P<T>(C::lowest * log2e), P<T>(C::highest * log2e));
  const P<T> k = rint(x);
  const P<T> r = (x - k) * P<T>(T(0.69314718055994530942));
  const P<T> q = fma(detail::polynomial(r, C::polynomial), r * r, r);
  using detail::scale;
  return scale(q + P<T>(1), k);
}

template <template <class> class P, class T>
P<T> expm1(P<T> x) {
  const P<T> half = detail::expm1_over<1>(x, detail::ExpConstants<T>::highest);
  return copysign(half + half, x);  // for -0
}

template <template <class> class P, class T>
P<T> expit(P<T> x) {
  return P<T>(1) / (P<T>(1) + exp(-x));
}

template <template <class> class P, class T>
[[gnu::always_inline]] inline P<T> log(P<T> x) {
  if constexpr (std::is_same_v<T, float>) {
    return detail::log_of(x, 1.0f, 0.693147182464599609f, 0.0f);
  } else {
    using C = detail::ExpConstants<T>;
    return detail::log_of(x, 1.0, C::ln2_high, C::ln2_low);
  }
}
template <template <class> class P, class T>
P<T> log2(P<T> x) {
  return detail::log_of(x, T(1.4426950408889634074), T(1), T(0));
}
template <template <class> class P, class T>
P<T> log10(P<T> x) {
  constexpr bool single = std::is_same_v<T, float>;
  return detail::log_of(x, T(0.43429448190325182765),
                        single ? T(0.301025390625) : T(3.01029995663611771306e-01),
                        single ? T(4.605038981195214e-06) : T(3.69423907715893078616e-13));
}

// log(1 + x) = log(u) + c / u, where u = 1 + x as rounded and c what the rounding lost.
template <template <class> class P, class T>
P<T> log1p(P<T> x) {
  const P<T> one(1), u = one + x;
  const P<T> lost = select(x < one, x - (u - one), one - (u - x));
  const P<T> y = log(u) + lost / u;
  const auto exact = u == P<T>(0) || u == P<T>(infinity<T>);
  return select(x == P<T>(0), x, select(exact, log(u), y));
}

// With E = (e^2|x| - 1) / 2, E / (E + 1). E = (2^k (1 + 2 h) - 1) / 2, where h comes from r = |x| - k ln(2) /
// 2 as q does in reduce_exp; what one step of that loses is small beside 1 where k is not 0.
template <template <class> class P, class T>
[[gnu::always_inline]] inline P<T> tanh(P<T> x) {
  using C = detail::ExpConstants<T>;
  constexpr T ln2 = T(0.69314718055994530942);
  constexpr auto half_polynomial = detail::polynomial_of_double<T>();
  const P<T> high(std::is_same_v<T, float> ? T(10) : T(20)), half(T(0.5));
  const P<T> a = clamp_above(abs(x), high);
  const P<T> k = detail::nearest(a, P<T>(2 / ln2));
  P<T> r = fma(k, P<T>(-ln2 / 2), a);
  if constexpr (!fused) r = fma(k, P<T>(-C::ln2_low / 2), fma(k, P<T>(-C::ln2_high / 2), a));
  const P<T> h = fma(detail::polynomial(r, half_polynomial.c), r * r, r);
  using detail::scale;
  const P<T> s = scale(P<T>(1), k);
  const P<T> e = fma(s, h, fma(s, half, -half));
  return with_sign(e / (e + P<T>(1)), x);
}
template <template <class> class P, class T>
P<T> sinh(P<T> x) {
  const P<T> quarter = detail::expm1_over<2>(abs(x), detail::ExpConstants<T>::highest + T(0.5));
  const P<T> u = quarter + quarter;
  return copysign(u + select(u < P<T>(1e10), u / (u + u + P<T>(1)), P<T>(T(0.5))), x);
}
template <template <class> class P, class T>
P<T> cosh(P<T> x) {
  const P<T> u = detail::half_exp(abs(x));
  return u + P<T>(T(0.25)) / u;
}

template <template <class> class P, class T>
P<T> asinh(P<T> x) {
  const P<T> one(1), ax = abs(x);
  const auto huge = ax > P<T>(std::is_same_v<T, float> ? T(1e10) : T(1e20));
  const P<T> t = ax + ax * ax / (one + sqrt(fma(ax, ax, one)));
  const P<T> y = log1p(select(huge, ax, t));
  return copysign(y + select(huge, P<T>(T(0.69314718055994530942)), P<T>(0)), x);
}
template <template <class> class P, class T>
P<T> acosh(P<T> x) {
  const P<T> one(1), t = x - one;
  const auto huge = x > P<T>(std::is_same_v<T, float> ? T(1e10) : T(1e20));
  const P<T> y = log1p(select(huge, x, t + sqrt(fma(t, t, t + t))));
  return select(x < one, P<T>(nan<T>), y + select(huge, P<T>(T(0.69314718055994530942)), P<T>(0)));
}
template <template <class> class P, class T>
P<T> atanh(P<T> x) {
  const P<T> one(1), ax = abs(x);
  return copysign(P<T>(T(0.5)) * log1p((ax + ax) / (one - ax)), x);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
