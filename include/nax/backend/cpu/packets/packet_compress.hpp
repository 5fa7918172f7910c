#pragma once

#include <bit>
#include <cstdint>

#include "nax/backend/cpu/packets/packet_base.hpp"

// The lanes of a packet for which a mask holds, one behind the other.
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {

// Row b: the numbers of the set bits of b, ascending, then zeros.
struct SetBits {
  alignas(64) std::uint8_t at[256][8] = {};
  constexpr SetBits() {
    for (int b = 0; b < 256; ++b)
      for (int i = 0, k = 0; i < 8; ++i)
        if (b >> i & 1) at[b][k++] = static_cast<std::uint8_t>(i);
  }
};
inline constexpr SetBits set_bits{};

}  // namespace detail

// Writes them to `to`, where there must be room for a whole packet, and returns their end.
template <class T>
T* store_chosen(T* to, Mask<T> mask, Packet<T> x) {
#if defined(NAX_AVX512)
  if constexpr (std::is_same_v<T, float>)
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask.raw, x.raw));
  else
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(mask.raw, x.raw));
  return to + std::popcount(bits(mask));
#elif defined(NAX_AVX2)
  const unsigned lanes = bits(mask);
  // Lanes of 64 bits are moved as two of 32.
  constexpr std::uint8_t doubled[16] = {0x00, 0x03, 0x0C, 0x0F, 0x30, 0x33, 0x3C, 0x3F,
                                        0xC0, 0xC3, 0xCC, 0xCF, 0xF0, 0xF3, 0xFC, 0xFF};
  const std::uint8_t* const places = detail::set_bits.at[sizeof(T) == 4 ? lanes : doubled[lanes & 15]];
  const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(places)));
  if constexpr (std::is_same_v<T, float>)
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(x.raw, order));
  else
    _mm256_storeu_pd(to, _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(x.raw), order)));
  return to + std::popcount(lanes);
#else
  alignas(raw_packet<T>) T lanes[Packet<T>::size];
  x.store(lanes);
  const unsigned set = bits(mask);
  for (int i = 0; i < Packet<T>::size; ++i) {
    *to = lanes[i];
    to += set >> i & 1;
  }
  return to;
#endif
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
