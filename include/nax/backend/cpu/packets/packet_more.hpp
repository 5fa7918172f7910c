#pragma once

#include <cstring>

#include "nax/backend/cpu/packets/packet.hpp"

// Functions of packets that rules call besides arithmetic and <cmath>.
NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

// f of plain numbers, lane by lane.
template <class F, class T>
Packet<T> by_lanes(F f, Packet<T> x) {
  return detail::by_lanes(f, x);
}
template <class F, class T>
Packet<T> by_lanes(F f, Packet<T> x, Packet<T> y) {
  return detail::by_lanes(f, x, y);
}

// The number in a packet whose lanes are all the same.
template <class T>
T uniform(Packet<T> x) {
  T first;  // (Eigen's pfirst makes g++ 12 warn of its own header for AVX-512.)
  std::memcpy(&first, &x.raw, sizeof first);
  return first;
}

template <class T>
Packet<T> conj(Packet<T> x) {
  return x;
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
