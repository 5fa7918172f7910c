#pragma once

#include "nax/backend/cpu/stream.hpp"

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
