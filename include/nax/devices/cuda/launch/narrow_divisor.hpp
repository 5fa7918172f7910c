#pragma once

#include "nax/devices/cuda/launch/loop.hpp"

// Indices of 32 bits, for kernels all of whose numbers are below 2^31: a GPU has twice as many instructions
// and more for each step with those of 64.
NAX_BEGIN
namespace cuda {

inline constexpr std::int64_t most_narrow_index = (std::int64_t{1} << 31) - 1;

// As AnyDivisor, for numbers from 0 to 2^31 - 1.
struct NarrowDivisor {
  std::int32_t by = 1;
  Divisor narrow;

  constexpr NarrowDivisor() = default;
  constexpr explicit NarrowDivisor(std::int64_t divisor)
      : by(static_cast<std::int32_t>(divisor)), narrow(by > 0 ? static_cast<std::uint32_t>(by) : 1) {}
  constexpr std::int32_t quotient(std::int32_t i) const {
    return static_cast<std::int32_t>(narrow.quotient(static_cast<std::uint32_t>(i)));
  }
  constexpr std::int32_t split(std::int32_t& i) const {
    const std::int32_t whole = quotient(i), rest = i - whole * by;
    i = whole;
    return rest;
  }
};

// Divides what an Index of 32 or 64 bits counts.
template <class Index>
using DivisorOf = std::conditional_t<sizeof(Index) == 4, NarrowDivisor, AnyDivisor>;

}  // namespace cuda
NAX_END
