#pragma once

// The error functions on packets, and floats as doubles.

#include "nax/backend/cpu/packets/packet_exp.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

struct Widened {
  Packet<double> low, high;
};
#if defined(NAX_SSE2)
inline constexpr bool widens = true;
NAX_ENGINE_HERE Widened widen(Packet<float> x) {
#ifdef NAX_AVX512
  const __m256d high = _mm512_maskz_extractf64x4_pd(0xF, _mm512_castps_pd(x.raw), 1);
  return {Packet<double>(_mm512_maskz_cvtps_pd(0xFF, _mm512_castps512_ps256(x.raw))),
          Packet<double>(_mm512_maskz_cvtps_pd(0xFF, _mm256_castpd_ps(high)))};
#elif defined(NAX_AVX)
  return {Packet<double>(_mm256_cvtps_pd(_mm256_castps256_ps128(x.raw))),
          Packet<double>(_mm256_cvtps_pd(_mm256_extractf128_ps(x.raw, 1)))};
#else
  return {Packet<double>(_mm_cvtps_pd(x.raw)), Packet<double>(_mm_cvtps_pd(_mm_movehl_ps(x.raw, x.raw)))};
#endif
}
NAX_ENGINE_HERE Packet<float> narrow(Widened x) {
#ifdef NAX_AVX512
  const __m512d low = _mm512_castpd256_pd512(_mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xFF, x.low.raw)));
  const __m256d high = _mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xFF, x.high.raw));
  return Packet<float>(_mm512_castpd_ps(_mm512_maskz_insertf64x4(0xFF, low, high, 1)));
#elif defined(NAX_AVX)
  return Packet<float>(_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(x.low.raw)),
                                            _mm256_cvtpd_ps(x.high.raw), 1));
#else
  return Packet<float>(_mm_movelh_ps(_mm_cvtpd_ps(x.low.raw), _mm_cvtpd_ps(x.high.raw)));
#endif
}
#elif defined(NAX_NEON)
inline constexpr bool widens = true;
NAX_ENGINE_HERE Widened widen(Packet<float> x) {
  return {Packet<double>(vcvt_f64_f32(vget_low_f32(x.raw))), Packet<double>(vcvt_high_f64_f32(x.raw))};
}
NAX_ENGINE_HERE Packet<float> narrow(Widened x) {
  return Packet<float>(vcvt_high_f32_f64(vcvt_f32_f64(x.low.raw), x.high.raw));
}
#else
inline constexpr bool widens = false;
Widened widen(Packet<float> x);  // not there
Packet<float> narrow(Widened x);
#endif

template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float most = 4.0f;  // the result is 1 from there on
  // (erf(x) / x - 1) in x^2 up to |x| = split
  static constexpr float split = 1.0f;
  static constexpr float little[] = {0.128379166f,   -0.376126271f,    0.112836001f,   -0.0268544405f,
                                     0.00518952751f, -0.000802077152f, 7.88888648e-05f};
  // erfc(a) beyond, in a - middle
  static constexpr float middle = 2.45f;
  static constexpr float large[] = {0.000530540979f,  -0.00279002985f, 0.00683715068f,  -0.0102341545f,
                                    0.0102470863f,    -0.00698392982f, 0.00299876988f,  -0.000417277858f,
                                    -0.000421980755f, 0.000296742948f, -4.7445946e-05f, -2.27501898e-05f,
                                    8.92503441e-06f,  -5.43653081e-07f};
};
template <>
struct ErfConstants<double> {
  static constexpr double most = 6.0, split = 0.95;
  static constexpr double little[] = {
      0.12837916709551259,    -0.3761263890318412,     0.11283791670973475,    -0.026866170648779601,
      0.0052239776632199324,  -0.0008548329342520475,  0.00012055423510997698, -1.4927981336572107e-05,
      1.6502190714482654e-06, -1.6820771937731793e-07, 1.8072245163825493e-08, -2.560927903579351e-09,
      3.1968691492756531e-10};
  // -log(erfc(a)) / a beyond
  static constexpr double large[] = {
      1.1283791507255072,      0.63661988275195014,     0.1027724197860593,      -0.019129189640806163,
      -0.00020430406253392123, 0.0016822484323611433,   -0.00056413928320400654, -9.2434320458546058e-06,
      0.00010057950124261445,  -5.8510539689466667e-05, 2.1296848908088102e-05,  -5.6685752743223893e-06,
      1.1438363220377671e-06,  -1.7456965324361847e-07, 1.9615203464142314e-08,  -1.5340299482521646e-09,
      7.4631830849443172e-11,  -1.7006813819812e-12};
};

// e^(a^2) erfc(a) (a + centre) for a >= 0, in 1 - 2 centre / (a + centre); `coarse` + a - coarse has so few
// bits that its square is exact.
template <class T>
struct ErfcConstants;
template <>
struct ErfcConstants<float> {
  static constexpr float centre = 3.75f, coarse = 98304.0f, most = 10.2f, split = 0.92f;
  static constexpr float first[] = {1.09192288f, -0.958741546f, 0.736319959f, -0.490470707f};
  static constexpr float scaled[] = {0.279050201f,    -0.131951898f,   0.0491702333f,    -0.0125483777f,
                                     0.000884300505f, 0.000817114545f, -0.000252770347f, -9.76356478e-06f};
};
template <>
struct ErfcConstants<double> {
  static constexpr double centre = 3.75, coarse = 6442450944.0, most = 27.3, split = 0.92;
  static constexpr double first[] = {1.0919229095627891, -0.95874157665290949, 0.73631892522175368,
                                     -0.49047029120768826};
  static constexpr double scaled[] = {
      0.2790620490336852,     -0.13195540117824336,    0.049118778617206059,    -0.012535880044978472,
      0.00098633806014572696, 0.0007948231282476774,   -0.00034864674071764747, 1.0593866720431546e-05,
      3.7471310663113975e-05, -8.9036267414649746e-06, -3.288570958593065e-06,  1.6555849395166649e-06,
      2.7865722181858276e-07, -2.6337499684119528e-07, -2.5922843337984979e-08, 4.0207875133061638e-08,
      2.774844499122888e-09,  -5.3688142939511958e-09, -2.2991140565077379e-10, 4.4046755782598165e-10};
};

}  // namespace detail

template <template <class> class P, class T>
P<T> erf(P<T> x) {
  using C = detail::ErfConstants<T>;
  const P<T> ax = abs(x), z = x * x, a = clamp_above(ax, P<T>(C::most));
  const P<T> nearby = fma(x, detail::polynomial(z, C::little), x);
  P<T> outside;
  if constexpr (std::is_same_v<T, float>)
    outside = detail::polynomial(a - P<T>(C::middle), C::large);
  else
    outside = exp(-a * detail::polynomial(a, C::large));
  const P<T> distant = P<T>(1) - outside;
  return select(ax < P<T>(C::split), nearby, copysign(distant, x));
}
template <template <class> class P, class T>
P<T> erfc(P<T> x) {
  using C = detail::ErfcConstants<T>;
  const P<T> one(1), ax = abs(x), a = clamp_above(ax, P<T>(C::most));
  const P<T> centre = a + P<T>(C::centre), inverse = one / centre;
  P<T> t = fma(P<T>(-2 * C::centre), inverse, one), square, factor;
  // e^(-a^2) (1 + factor) / centre, with what the square and the reciprocal are rounded by.
  if constexpr (fused) {
    const P<T> missing = fma(-inverse, centre, one);
    t = fma(P<T>(-2 * C::centre) * inverse, missing, t);
    square = a * a;
    factor = missing - fma(a, a, -square);
  } else {
    static constexpr T series[] = {T(-1), T(1. / 2), T(-1. / 6), T(1. / 24)};
    const P<T> b = (a + P<T>(C::coarse)) - P<T>(C::coarse), rest = (a - b) * (a + b);
    square = b * b;
    factor = rest * detail::polynomial(rest, series);
  }
  P<T> above = detail::polynomial(t, C::scaled);
  for (int i = 3; i >= 0; --i) above = fma(above, t, P<T>(C::first[i]));  // its parts cancel for large a
  const P<T> size = above * inverse;
  const auto [q, k] = detail::reduce_exp(clamp(-square, P<T>(detail::ExpConstants<T>::lowest), P<T>(0)));
  using detail::scale;
  const P<T> whole = one + q;
  factor = fma(factor, whole, q);
  P<T> distant = fma(factor, size, size);
  if constexpr (fused) distant = size + fma(factor, size, fma(above, inverse, -size) * whole);
  distant = scale(distant, k);
  // About 0 by erf: 1 less something small.
  const P<T> nearby = one - fma(x, detail::polynomial(x * x, detail::ErfConstants<T>::little), x);
  const P<T> y = select(x < P<T>(0), P<T>(2) - distant, distant);
  return select(ax < P<T>(C::split), nearby, select(x == x, y, x));
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
