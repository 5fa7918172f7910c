#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// Describes a draw as data, for machines whose kernels are compiled once for all draws.
NAX_BEGIN
namespace detail {

enum class DrawKind : std::uint8_t {
  bits,
  uniform,
  bernoulli,
  rademacher,
  integers,
  normal,
  gumbel,
  exponential,
  laplace,
  logistic,
  cauchy,
  clipped_normal
};

struct Draw {
  DrawKind kind = DrawKind::bits;
  double low = 0, high = 1;    // of the interval; of bernoulli the probability is `high`
  double least = 0, most = 0;  // of clipped_normal
  std::uint64_t offset = 0, span = 0, multiplier = 0;  // of integers
};

}  // namespace detail
NAX_END
