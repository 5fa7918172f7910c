#pragma once

#include <type_traits>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// x as a number of its own: compilers do not join the product that made it and the sum that takes it to one
// rounding. For sums whose floor or comparison decides: their result is the same with and without FMA.
template <class R>
constexpr R rounded(R x) {
  static_assert(std::is_same_v<R, float> || std::is_same_v<R, double>);
  if (std::is_constant_evaluated()) return x;
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(R) == 4)
    return __fmul_rn(x, 1.0f);
  else
    return __dmul_rn(x, 1.0);
#else
  const volatile R kept = x;
  return kept;
#endif
}

}  // namespace detail
NAX_END
