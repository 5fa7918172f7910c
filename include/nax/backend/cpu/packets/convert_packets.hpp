#pragma once

#include <cstdint>
#include <cstring>

#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/core/half.hpp"

// Conversions that the machine has instructions for and compilers do not find: between float and the 16-bit
// floats, and from numbers to truth values.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// Converts `width` elements at a time; 0 where there is no way of its own from From to To.
template <class From, class To>
struct PacketConversion {
  static constexpr int width = 0;
};

#if defined(NAX_AVX2) && defined(NAX_F16C)

// A NaN that signals comes out as one that does not.
template <>
struct PacketConversion<float, half> {
  static constexpr int width = 8;
  static void run(const float* from, half* to) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bits);
  }
};
template <>
struct PacketConversion<half, float> {
  static constexpr int width = 8;
  static void run(const half* from, float* to) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_ps(to, _mm256_cvtph_ps(bits));
  }
};
// Bits as float_to_bfloat16_bits gives them.
template <>
struct PacketConversion<float, bfloat16> {
  static constexpr int width = 16;
  static __m256i upper_bits(const float* from) {
    const __m256 x = _mm256_loadu_ps(from);
    const __m256i bits = _mm256_castps_si256(x), one = _mm256_set1_epi32(1);
    const __m256i half_step =
        _mm256_add_epi32(_mm256_and_si256(_mm256_srli_epi32(bits, 16), one), _mm256_set1_epi32(0x7fff));
    const __m256i nearest = _mm256_add_epi32(bits, half_step),
                  quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x40'0000)),
                  is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(nearest, quiet, is_nan), 16);
  }
  static void run(const float* from, bfloat16* to) {
    const __m256i halves = _mm256_packus_epi32(upper_bits(from), upper_bits(from + 8));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(halves, 0b11011000));
  }
};
template <>
struct PacketConversion<bfloat16, float> {
  static constexpr int width = 8;
  static void run(const bfloat16* from, float* to) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)));
  }
};
template <>
struct PacketConversion<float, bool> {
  static constexpr int width = 32;
  static void run(const float* from, bool* to) {
    const auto is_true = [from](int i) {  // -1 where it holds
      return _mm256_castps_si256(
          _mm256_cmp_ps(_mm256_loadu_ps(from + 8 * i), _mm256_setzero_ps(), _CMP_NEQ_UQ));
    };
    // Packing goes by halves of the registers: the four bytes of each quarter lie apart then.
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(is_true(0), is_true(1)),
                                             _mm256_packs_epi32(is_true(2), is_true(3)));
    const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_and_si256(ordered, _mm256_set1_epi8(1)));
  }
};

#elif defined(NAX_NEON)

// A NaN that signals comes out as one that does not.
template <>
struct PacketConversion<float, half> {
  static constexpr int width = 8;
  static void run(const float* from, half* to) {
    const float16x4_t low = vcvt_f16_f32(vld1q_f32(from));
    vst1q_u16(&to->bits, vreinterpretq_u16_f16(vcvt_high_f16_f32(low, vld1q_f32(from + 4))));
  }
};
template <>
struct PacketConversion<half, float> {
  static constexpr int width = 8;
  static void run(const half* from, float* to) {
    const float16x8_t x = vreinterpretq_f16_u16(vld1q_u16(&from->bits));
    vst1q_f32(to, vcvt_f32_f16(vget_low_f16(x)));
    vst1q_f32(to + 4, vcvt_high_f32_f16(x));
  }
};
// Bits as float_to_bfloat16_bits gives them.
template <>
struct PacketConversion<float, bfloat16> {
  static constexpr int width = 8;
  static uint16x4_t upper_bits(const float* from) {
    const float32x4_t x = vld1q_f32(from);
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t nearest = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff))),
                     quiet = vorrq_u32(bits, vdupq_n_u32(0x40'0000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), nearest, quiet), 16);
  }
  static void run(const float* from, bfloat16* to) {
    vst1q_u16(&to->bits, vcombine_u16(upper_bits(from), upper_bits(from + 4)));
  }
};
template <>
struct PacketConversion<bfloat16, float> {
  static constexpr int width = 8;
  static void run(const bfloat16* from, float* to) {
    const uint16x8_t bits = vld1q_u16(&from->bits);
    vst1q_f32(to, vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits), 16)));
    vst1q_f32(to + 4, vreinterpretq_f32_u32(vshll_high_n_u16(bits, 16)));
  }
};
template <>
struct PacketConversion<float, bool> {
  static constexpr int width = 16;
  static void run(const float* from, bool* to) {
    const auto is_zero = [from](int i) {  // ones where it holds
      return vmovn_u32(vceqzq_f32(vld1q_f32(from + 4 * i)));
    };
    const uint8x16_t zeros = vcombine_u8(vmovn_u16(vcombine_u16(is_zero(0), is_zero(1))),
                                         vmovn_u16(vcombine_u16(is_zero(2), is_zero(3))));
    vst1q_u8(reinterpret_cast<std::uint8_t*>(to), vaddq_u8(zeros, vdupq_n_u8(1)));
  }
};

#endif

// A whole run; what fills no packet is converted in a padded copy, so that every element is converted alike.
template <class From, class To>
void convert_by_packets(const From* from, To* to, std::int64_t n) {
  using C = PacketConversion<From, To>;
  constexpr std::int64_t width = C::width;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) C::run(from + i, to + i);
  if (i == n) return;
  From source[width] = {};
  To target[width];
  std::memcpy(source, from + i, static_cast<std::size_t>(n - i) * sizeof(From));
  C::run(source, target);
  std::memcpy(to + i, target, static_cast<std::size_t>(n - i) * sizeof(To));
}

// Elements as a packet of T: T's own, or 16-bit floats beside floats. The first `count` of them, or all.
template <class T, class E>
[[gnu::always_inline]] inline simd::Packet<T> load_wide(const E* from) {
  using P = simd::Packet<T>;
  if constexpr (std::is_same_v<T, E>) {
    return P::load(from);
#ifdef NAX_AVX512
  } else if constexpr (std::is_same_v<E, bfloat16> || std::is_same_v<E, half>) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    if constexpr (std::is_same_v<E, half>)
      return P(_mm512_cvtph_ps(bits));
    else
      return P(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)));
#endif
  } else {
    alignas(P) T lanes[P::size];
    if constexpr (PacketConversion<E, T>::width > 0)
      convert_by_packets(from, lanes, P::size);
    else
      for (int i = 0; i < P::size; ++i) lanes[i] = static_cast<T>(from[i]);
    return P::load(lanes);
  }
}
template <class T, class E>
simd::Packet<T> load_wide(const E* from, std::int64_t count) {
  if constexpr (std::is_same_v<T, E>) {
    return simd::Packet<T>::load(from, count);
  } else {
    E lanes[simd::Packet<T>::size] = {};
    std::memcpy(static_cast<void*>(lanes), from, static_cast<std::size_t>(count) * sizeof(E));
    return load_wide<T>(static_cast<const E*>(lanes));
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
