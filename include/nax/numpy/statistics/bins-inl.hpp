#pragma once

#include "nax/numpy/statistics/bins.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_range(const char* function, double first, double last, bool given) {
  if (!(std::isfinite(first) && std::isfinite(last)))
    raise<ValueError>({function, given ? ": supplied" : ": autodetected", " range of [", first, ", ", last,
                       "] is not finite"});
  raise<ValueError>(
      {function, ": max must be larger than min in range parameter: [", first, ", ", last, "]"});
}

}  // namespace detail
NAX_END
