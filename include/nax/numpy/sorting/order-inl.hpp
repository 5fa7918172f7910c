#pragma once

#include "nax/numpy/sorting/order.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_kth(const char* function, const std::vector<std::int64_t>& kth, std::int64_t n) {
  for (const std::int64_t k : kth)
    if (k < -n || k >= n)
      raise<ValueError>({function, ": kth(=", k, ") out of bounds for an axis of ", n, " elements"});
}

}  // namespace detail
NAX_END
