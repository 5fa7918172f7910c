#pragma once

#include <cstdint>

#include "nax/backend/cpu/packets/packet_base.hpp"

NAX_BEGIN
namespace cpu {

// Is there a NaN in the run?
template <class T>
bool holds_nan(const T* x, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (simd::has_packet<T>) {
    using Packet = simd::Packet<T>;
    simd::Mask<T> found(false);
    for (; i + Packet::size <= n; i += Packet::size) {
      const Packet p = Packet::load(x + i);
      found = found | (p != p);
    }
    if (any(found)) return true;
  }
  for (; i < n; ++i)
    if (x[i] != x[i]) return true;
  return false;
}

}  // namespace cpu
NAX_END
