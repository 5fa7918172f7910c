#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nax/backend/cpu/packets/packet_base.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// Stores past the caches: a line that is written whole need not be read before, and the writes do not wait.
// Only for what is too large to be met in a cache again.
#ifdef NAX_SSE2
inline constexpr bool can_stream = true;
template <class T>
void stream(T* to, simd::Packet<T> a) {
  constexpr bool single = std::is_same_v<T, float>;
#ifdef NAX_AVX512
  if constexpr (single)
    _mm512_stream_ps(to, a.raw);
  else
    _mm512_stream_pd(to, a.raw);
#elif defined(NAX_AVX)
  if constexpr (single)
    _mm256_stream_ps(to, a.raw);
  else
    _mm256_stream_pd(to, a.raw);
#else
  if constexpr (single)
    _mm_stream_ps(to, a.raw);
  else
    _mm_stream_pd(to, a.raw);
#endif
}
inline void finish_streams() { _mm_sfence(); }
#else
inline constexpr bool can_stream = false;
template <class T>
void stream(T* to, simd::Packet<T> a) {
  a.store(to);
}
inline void finish_streams() {}
#endif

inline constexpr std::int64_t line_bytes = 64;
inline std::int64_t bytes_to_line(const void* p) {
  return (line_bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % line_bytes)) %
         line_bytes;
}
// From this size on a result streams: its next reader would hardly find it in a cache.
inline constexpr std::int64_t streamed_result_bytes = 8 << 20;

// Copies bytes to the beginning of a line; what fills no line is left out. Returns how many went.
NAX_ENGINE std::int64_t stream_lines(char* to, const char* from, std::int64_t bytes);
NAX_ENGINE void stream_copy(char* to, const char* from, std::int64_t bytes);

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE std::int64_t stream_lines(char* to, const char* from, std::int64_t bytes) {
  using P = simd::Packet<float>;
  constexpr std::int64_t step = sizeof(float) * P::size;
  std::int64_t i = 0;
  for (; i + line_bytes <= bytes; i += line_bytes)
    for (std::int64_t part = i; part < i + line_bytes; part += step)
      stream(reinterpret_cast<float*>(to + part), P::load(reinterpret_cast<const float*>(from + part)));
  return i;
}

NAX_ENGINE void stream_copy(char* to, const char* from, std::int64_t bytes) {
  const std::int64_t head = std::min(bytes, bytes_to_line(to));
  std::memcpy(to, from, static_cast<std::size_t>(head));
  const std::int64_t done = head + stream_lines(to + head, from + head, bytes - head);
  std::memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
#endif
