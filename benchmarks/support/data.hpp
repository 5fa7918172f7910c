#pragma once

// Inputs of the benchmarks: the same numbers in every language, from a hash of their position
// (peers/data.py has the same functions).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

inline std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// n numbers, evenly spread over [low, high)
inline std::vector<float> uniform(std::uint32_t seed, std::int64_t n, float low = -1, float high = 1) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::uint32_t i = 0; i < v.size(); ++i)
    v[i] = low + (high - low) * (static_cast<float>(hash(i + seed * 0x9e3779b9u) >> 8) * 0x1p-24f);
  return v;
}

// n integers, evenly spread over [0, high)
inline std::vector<std::int32_t> integers(std::uint32_t seed, std::int64_t n, std::uint32_t high) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(n));
  for (std::uint32_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<std::int32_t>(hash(i + seed * 0x9e3779b9u) % high);
  return v;
}

}  // namespace bench
