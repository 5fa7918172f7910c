#pragma once

// Sine, cosine, tangent and their inverses on packets.

#include "nax/backend/cpu/packets/packet_arithmetic.hpp"
#include "nax/backend/cpu/packets/packet_exp.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

template <class T>
struct TrigConstants;

template <>
struct TrigConstants<float> {
  // pi / 2 in three parts. With fused products each part may be full; without, the first two are short enough
  // for exact products with the quotient.
  static constexpr float part[] = {fused ? 1.57079637050628662f : 1.5703125f,
                                   fused ? -4.37113900018624283e-8f : 4.8351287841796875e-4f,
                                   fused ? -1.71512449138838826e-15f : 3.13855707645416259765625e-07f,
                                   fused ? 0.0f : 6.0771006282767103812147979624569416046142578125e-11f};
  static constexpr float most = fused ? 65536.0f : 4096.0f;  // |x| up to this is reduced on packets
  static constexpr float magic = 12582912.0f;  // 1.5 * 2^23: its last bits hold a small whole number
  static constexpr float sine[] = {-0.166666552f, 0.00833218824f, -0.000195180735f};
  static constexpr float cosine[] = {0.0416666456f, -0.00138873095f, 2.44323383e-05f};
  static constexpr float arctangent[] = {-0.333332986f,  0.199985325f,  -0.142640784f,
                                         0.109513476f,   -0.084010303f, 0.0579164587f,
                                         -0.0311370324f, 0.0108927479f, -0.00178874156f};
  static constexpr float arcsine[] = {0.166667521f, 0.0749531239f, 0.0454686284f, 0.024187699f,
                                      0.0421530418f};
};

template <>
struct TrigConstants<double> {
  static constexpr double part[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                    2.02226624871116645580e-21, 8.47842766036889956997e-32};
  static constexpr double most = 1048576.0;
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double sine[] = {-0.1666666666666663,    0.0083333333333218875,   -0.00019841269829418988,
                                    2.7557313565103462e-06, -2.5050739226265327e-08, 1.5895745299421336e-10};
  static constexpr double cosine[] = {0.041666666666666595,   -0.0013888888888873312,
                                      2.4801587288969191e-05, -2.7557314204398741e-07,
                                      2.0875703330178891e-09, -1.135862711638066e-11};
  static constexpr double arctangent[] = {
      -0.33333333333333071,   0.1999999999995174,     -0.14285714282587109,    0.11111111007304177,
      -0.090909070070096659,  0.076922798786376909,   -0.066664043326457798,   0.058805292372025857,
      -0.052535241295593484,  0.047223390626479463,   -0.042192185784165899,   0.036642640348898574,
      -0.029904909783305556,  0.021986033561480853,   -0.013901580343407093,   0.0071971686859561863,
      -0.0028852350598873025, 0.00083142545414772052, -0.00015218170551883835, 1.3227017158009323e-05};
  static constexpr double arcsine[] = {0.16666666666665408,  0.075000000003370523,  0.044642856828354095,
                                       0.030381959134157296, 0.022371758149077416,  0.017359702917726968,
                                       0.013885256431262063, 0.012169059868580351,  0.0065286802478288584,
                                       0.019526229131168082, -0.016220921959927366, 0.031909910677489703};
};

// x = quotient * pi / 2 + r; `quotient` is kept in the last bits of a large number. The two polynomials are
// those of r.
template <class V>
struct Quadrant;
template <template <class> class P, class T>
struct Quadrant<P<T>> {
  P<T> quotient, sine, cosine;
  explicit Quadrant(P<T> x) {
    using C = TrigConstants<T>;
    const P<T> n = rint(x * P<T>(T(0.63661977236758134308)));
    quotient = n + P<T>(C::magic);
    P<T> r = fma(n, P<T>(-C::part[0]), x);
    r = fma(n, P<T>(-C::part[1]), r);
    r = fma(n, P<T>(-C::part[2]), r);
    if constexpr (C::part[3] != 0) r = fma(n, P<T>(-C::part[3]), r);
    const P<T> z = r * r;
    sine = fma(polynomial(z, C::sine) * z, r, r);
    cosine = fma(z * z, polynomial(z, C::cosine), fma(z, P<T>(T(-0.5)), P<T>(1)));
  }
  // The sine of x + shift * pi / 2.
  P<T> turned(int shift) const {
    const P<T> q = quotient + P<T>(T(shift));
    const P<T> value = select(bit<0>(q), cosine, sine);
    return select(bit<1>(q), -value, value);
  }
};

// Lanes that are too large for the reduction above go to the function of std, one by one.
template <class T, class Fast, class Slow>
Packet<T> trigonometric(Packet<T> x, Fast fast, Slow slow) {
  const Mask<T> reducible = abs(x) <= Packet<T>(TrigConstants<T>::most);
  if (all(reducible)) [[likely]]
    return fast(x);
  return select(reducible, fast(select(reducible, x, Packet<T>(0))), detail::by_lanes(slow, x));
}

// Functions of std by their names, which formulas keep.
struct SineOfStd {
  static constexpr const char* name = "sin";
  template <class T>
  T operator()(T v) const {
    return std::sin(v);
  }
};
struct CosineOfStd {
  static constexpr const char* name = "cos";
  template <class T>
  T operator()(T v) const {
    return std::cos(v);
  }
};
struct TangentOfStd {
  static constexpr const char* name = "tan";
  template <class T>
  T operator()(T v) const {
    return std::tan(v);
  }
};

}  // namespace detail

template <template <class> class P, class T>
P<T> sin(P<T> x) {
  using detail::trigonometric;
  return trigonometric(
      x, [](P<T> v) { return select(v == P<T>(0), v, detail::Quadrant<P<T>>(v).turned(0)); },
      detail::SineOfStd());
}
template <template <class> class P, class T>
P<T> cos(P<T> x) {
  using detail::trigonometric;
  return trigonometric(
      x, [](P<T> v) { return detail::Quadrant<P<T>>(v).turned(1); }, detail::CosineOfStd());
}
template <template <class> class P, class T>
P<T> tan(P<T> x) {
  using detail::trigonometric;
  return trigonometric(
      x,
      [](P<T> v) {
        const detail::Quadrant<P<T>> quadrant(v);
        using detail::bit;
        const auto odd = bit<0>(quadrant.quotient);
        const P<T> up = select(odd, -quadrant.cosine, quadrant.sine);
        return select(v == P<T>(0), v, up / select(odd, quadrant.sine, quadrant.cosine));
      },
      detail::TangentOfStd());
}

template <template <class> class P, class T>
P<T> atan(P<T> x) {
  const P<T> one(1), ax = abs(x);
  const auto outside = ax > one;
  const P<T> a = select(outside, one / ax, ax), z = a * a;
  const P<T> y = fma(detail::polynomial(z, detail::TrigConstants<T>::arctangent) * z, a, a);
  return copysign(select(outside, P<T>(T(1.57079632679489661923)) - y, y), x);
}

// The angle of (x, y): y comes first, as in std. Signed zeros and infinities as IEEE 754 wants them.
template <template <class> class P, class T>
P<T> atan2(P<T> y, P<T> x) {
  const P<T> zero(0), one(1), pi(T(3.14159265358979323846)), ax = abs(x), ay = abs(y);
  const auto steep = ay > ax;
  const P<T> low = select(steep, ax, ay), high = select(steep, ay, ax);
  P<T> a = low / high;
  a = select(low == high, one, a);  // infinities
  a = select(high == zero, zero, a);
  a = select(isnan(x), x, select(isnan(y), y, a));
  const P<T> z = a * a;
  P<T> angle = fma(detail::polynomial(z, detail::TrigConstants<T>::arctangent) * z, a, a);
  angle = select(steep, P<T>(T(1.57079632679489661923)) - angle, angle);
  angle = select(signbit(x), pi - angle, angle);
  return copysign(angle, y);
}

namespace detail {
// asin on |x| <= 1/2.
template <template <class> class P, class T>
P<T> arcsine(P<T> x, P<T> z) {
  return fma(polynomial(z, TrigConstants<T>::arcsine) * z, x, x);
}
}  // namespace detail

template <template <class> class P, class T>
P<T> asin(P<T> x) {
  const P<T> half(T(0.5)), ax = abs(x);
  const auto outer = ax > half;
  const P<T> z = select(outer, half - half * ax, ax * ax);
  const P<T> y = detail::arcsine(select(outer, sqrt(z), ax), z);
  return copysign(select(outer, P<T>(T(1.57079632679489661923)) - (y + y), y), x);
}
template <template <class> class P, class T>
P<T> acos(P<T> x) {
  const P<T> half(T(0.5)), ax = abs(x);
  const auto outer = ax > half;
  const P<T> z = select(outer, half - half * ax, ax * ax);
  const P<T> y = detail::arcsine(select(outer, sqrt(z), ax), z);
  const P<T> inner = P<T>(T(1.57079632679489661923)) - copysign(y, x);
  return select(outer, select(x < P<T>(0), P<T>(T(3.14159265358979323846)) - (y + y), y + y), inner);
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
