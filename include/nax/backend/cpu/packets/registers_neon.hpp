#pragma once

// Registers of 128 bits of 64-bit ARM.

#include "nax/backend/cpu/packets/registers_scalar.hpp"
#include "nax/core/abi.hpp"

#if defined(NAX_NEON)
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <>
struct Registers<float> {
  using type = float32x4_t;
  using mask = float32x4_t;
  static constexpr int size = 4;

  static type load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, type a) { vst1q_f32(to, a); }
  static type all(float value) { return vdupq_n_f32(value); }

  static type bit_and(type a, type b) { return number(vandq_u32(word(a), word(b))); }
  static type bit_or(type a, type b) { return number(vorrq_u32(word(a), word(b))); }
  static type bit_xor(type a, type b) { return number(veorq_u32(word(a), word(b))); }
  static type and_not(type a, type b) { return number(vbicq_u32(word(a), word(b))); }  // a & ~b
  static mask equal(type a, type b) { return number(vceqq_f32(a, b)); }
  static mask less(type a, type b) { return number(vcltq_f32(a, b)); }
  static mask less_equal(type a, type b) { return number(vcleq_f32(a, b)); }
  static unsigned bits(mask m) {
    const uint32x4_t lanes = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(word(m), lanes));
  }
  static type select(mask m, type a, type b) { return vbslq_f32(word(m), a, b); }

  static type min(type a, type b) { return vminq_f32(a, b); }
  static type max(type a, type b) { return vmaxq_f32(a, b); }
  static type sqrt(type a) { return vsqrtq_f32(a); }
  static type fma(type a, type b, type c) { return vfmaq_f32(c, a, b); }
  static type floor(type a) { return vrndmq_f32(a); }
  static type ceil(type a) { return vrndpq_f32(a); }
  static type rint(type a) { return vrndnq_f32(a); }

  static type reverse(type a) {
    const type pairs = vrev64q_f32(a);
    return vcombine_f32(vget_high_f32(pairs), vget_low_f32(pairs));
  }
  // The lanes of a, joined in pairs of the two halves first.
  template <class Join>
  static float join_lanes(type a, Join join) {
    const type pairs = join(a, vextq_f32(a, a, 2));
    return vgetq_lane_f32(join(pairs, vextq_f32(pairs, pairs, 1)), 0);
  }

  // a * 2^k for whole k, rounded once: by two powers, each of about half the exponent. They are normal where
  // the result is not, and only the second product rounds.
  static type scale(type a, type k) {
    const int32x4_t whole = vcvtq_s32_f32(k), half = vshrq_n_s32(whole, 1);
    return a * power(half) * power(vsubq_s32(whole, half));
  }
  // A normal x > 0 is m * 2^e with m in [3/4, 3/2): counted from the bits of 3/4, the upper bits are e.
  static type split(type x, type& e) {
    const int32x4_t bits = vreinterpretq_s32_f32(x);
    const int32x4_t above = vshrq_n_s32(vsubq_s32(bits, vdupq_n_s32(0x3f400000)), 23);
    e = vcvtq_f32_s32(above);
    return vreinterpretq_f32_s32(vsubq_s32(bits, vshlq_n_s32(above, 23)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    const type ab = vzip1q_f32(row[0], row[1]), cd = vzip1q_f32(row[2], row[3]);
    const type AB = vzip2q_f32(row[0], row[1]), CD = vzip2q_f32(row[2], row[3]);
    row[0] = vcombine_f32(vget_low_f32(ab), vget_low_f32(cd));
    row[1] = vcombine_f32(vget_high_f32(ab), vget_high_f32(cd));
    row[2] = vcombine_f32(vget_low_f32(AB), vget_low_f32(CD));
    row[3] = vcombine_f32(vget_high_f32(AB), vget_high_f32(CD));
  }

 private:
  static uint32x4_t word(type a) { return vreinterpretq_u32_f32(a); }
  static type number(uint32x4_t a) { return vreinterpretq_f32_u32(a); }
  static type power(int32x4_t e) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(e, vdupq_n_s32(127)), 23));
  }
};

template <>
struct Registers<double> {
  using type = float64x2_t;
  using mask = float64x2_t;
  static constexpr int size = 2;

  static type load(const double* from) { return vld1q_f64(from); }
  static void store(double* to, type a) { vst1q_f64(to, a); }
  static type all(double value) { return vdupq_n_f64(value); }

  static type bit_and(type a, type b) { return number(vandq_u64(word(a), word(b))); }
  static type bit_or(type a, type b) { return number(vorrq_u64(word(a), word(b))); }
  static type bit_xor(type a, type b) { return number(veorq_u64(word(a), word(b))); }
  static type and_not(type a, type b) { return number(vbicq_u64(word(a), word(b))); }
  static mask equal(type a, type b) { return number(vceqq_f64(a, b)); }
  static mask less(type a, type b) { return number(vcltq_f64(a, b)); }
  static mask less_equal(type a, type b) { return number(vcleq_f64(a, b)); }
  static unsigned bits(mask m) {
    const uint64x2_t lanes = {1, 2};
    return static_cast<unsigned>(vaddvq_u64(vandq_u64(word(m), lanes)));
  }
  static type select(mask m, type a, type b) { return vbslq_f64(word(m), a, b); }

  static type min(type a, type b) { return vminq_f64(a, b); }
  static type max(type a, type b) { return vmaxq_f64(a, b); }
  static type sqrt(type a) { return vsqrtq_f64(a); }
  static type fma(type a, type b, type c) { return vfmaq_f64(c, a, b); }
  static type floor(type a) { return vrndmq_f64(a); }
  static type ceil(type a) { return vrndpq_f64(a); }
  static type rint(type a) { return vrndnq_f64(a); }

  static type reverse(type a) { return vextq_f64(a, a, 1); }
  template <class Join>
  static double join_lanes(type a, Join join) {
    return vgetq_lane_f64(join(a, vextq_f64(a, a, 1)), 0);
  }

  static type scale(type a, type k) {
    const int64x2_t whole = vcvtq_s64_f64(k), half = vshrq_n_s64(whole, 1);
    return a * power(half) * power(vsubq_s64(whole, half));
  }
  static type split(type x, type& e) {
    const int64x2_t bits = vreinterpretq_s64_f64(x);
    const int64x2_t above = vshrq_n_s64(vsubq_s64(bits, vdupq_n_s64(0x3fe8000000000000)), 52);
    e = vcvtq_f64_s64(above);
    return vreinterpretq_f64_s64(vsubq_s64(bits, vshlq_n_s64(above, 52)));
  }

  [[gnu::always_inline]] static void transpose(type (&row)[size]) {
    const type low = vzip1q_f64(row[0], row[1]);
    row[1] = vzip2q_f64(row[0], row[1]);
    row[0] = low;
  }

 private:
  static uint64x2_t word(type a) { return vreinterpretq_u64_f64(a); }
  static type number(uint64x2_t a) { return vreinterpretq_f64_u64(a); }
  static type power(int64x2_t e) {
    return vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(e, vdupq_n_s64(1023)), 52));
  }
};

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
#endif
