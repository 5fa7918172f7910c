#pragma once

// The error function on packets, and floats as doubles.

#include "nax/backend/cpu/packet_exp.hpp"

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
  static constexpr float small[] = {0.128379166f,   -0.376126271f,    0.112836001f,   -0.0268544405f,
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
  static constexpr double small[] = {0.12837916709551259,     -0.3761263890318412,     0.11283791670973475,
                                     -0.026866170648779601,   0.0052239776632199324,   -0.0008548329342520475,
                                     0.00012055423510997698,  -1.4927981336572107e-05, 1.6502190714482654e-06,
                                     -1.6820771937731793e-07, 1.8072245163825493e-08,  -2.560927903579351e-09,
                                     3.1968691492756531e-10};
  // -log(erfc(a)) / a beyond
  static constexpr double large[] = {
      1.1283791507255072,      0.63661988275195014,     0.1027724197860593,      -0.019129189640806163,
      -0.00020430406253392123, 0.0016822484323611433,   -0.00056413928320400654, -9.2434320458546058e-06,
      0.00010057950124261445,  -5.8510539689466667e-05, 2.1296848908088102e-05,  -5.6685752743223893e-06,
      1.1438363220377671e-06,  -1.7456965324361847e-07, 1.9615203464142314e-08,  -1.5340299482521646e-09,
      7.4631830849443172e-11,  -1.7006813819812e-12};
};

}  // namespace detail

template <template <class> class P, class T>
P<T> erf(P<T> x) {
  using C = detail::ErfConstants<T>;
  const P<T> ax = abs(x), z = x * x, a = clamp_above(ax, P<T>(C::most));
  const P<T> near = fma(x, detail::polynomial(z, C::small), x);
  P<T> outside;
  if constexpr (std::is_same_v<T, float>)
    outside = detail::polynomial(a - P<T>(C::middle), C::large);
  else
    outside = exp(-a * detail::polynomial(a, C::large));
  const P<T> far = P<T>(1) - outside;
  return select(ax < P<T>(C::split), near, copysign(far, x));
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
