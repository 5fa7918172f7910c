#pragma once

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_types.hpp"

// How often each number occurs in a run of integers.
NAX_BEGIN
namespace cpu {

template <class T>
struct Extremes {
  T least, greatest;
};
// Returns the extremes of n integers; zeros if n is 0.
template <class T>
Extremes<T> extremes(const T* x, std::int64_t n) {
  if (n == 0) return {T(0), T(0)};
  constexpr int width = 32;
  T least[width], greatest[width];
  std::fill(least, least + width, x[0]);
  std::fill(greatest, greatest + width, x[0]);
  const std::int64_t whole = n / width * width;
  for (std::int64_t i = 0; i < whole; i += width)
    for (int j = 0; j < width; ++j) {
      least[j] = x[i + j] < least[j] ? x[i + j] : least[j];
      greatest[j] = x[i + j] > greatest[j] ? x[i + j] : greatest[j];
    }
  for (std::int64_t i = whole; i < n; ++i) {
    least[0] = std::min(least[0], x[i]);
    greatest[0] = std::max(greatest[0], x[i]);
  }
  return {*std::min_element(least, least + width), *std::max_element(greatest, greatest + width)};
}

// counts[b] grows by how often b occurs; numbers from `length` on count nowhere, and none is negative. A
// number that comes again soon would wait for its count to be written: where it pays there are four of them.
template <class T>
void count_bins(const T* x, std::int64_t n, std::int64_t length, std::int32_t* counts) {
  const auto bin = [x, length](std::int64_t i) {
    return std::min(static_cast<std::uint64_t>(x[i]), static_cast<std::uint64_t>(length));
  };
  constexpr std::int64_t ways = 4, most = 4096;
  if (length > most || n < 8 * length) {
    for (std::int64_t i = 0; i < n; ++i)
      if (const std::uint64_t b = bin(i); b < static_cast<std::uint64_t>(length)) ++counts[b];
    return;
  }
  const std::int64_t stride = length + 1;  // the last one for what counts nowhere
  const Scratch<std::int32_t> scratch(ways * stride);
  std::int32_t* const own = scratch.data();
  std::fill(own, own + ways * stride, 0);
  const std::int64_t whole = n / ways * ways;
  for (std::int64_t i = 0; i < whole; i += ways)
    for (std::int64_t way = 0; way < ways; ++way)
      ++own[static_cast<std::uint64_t>(way * stride) + bin(i + way)];
  for (std::int64_t i = whole; i < n; ++i) ++own[bin(i)];
  for (std::int64_t way = 0; way < ways; ++way)
    for (std::int64_t b = 0; b < length; ++b) counts[b] += own[way * stride + b];
}

}  // namespace cpu
NAX_END
