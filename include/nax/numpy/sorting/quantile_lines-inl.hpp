#pragma once

#include "nax/numpy/sorting/quantile_lines.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_fraction(const char* function, double q) {
  if (!(q >= 0 && q <= 1)) raise<ValueError>({function, ": quantiles must be in the range [0, 1]"});
}

NAX_ENGINE void check_weights(const char* function, const Array<double>& weights) {
  const ArrayBase flat = contiguous(constant(weights), transforms_handled);
  const double* w = elements<const double>(flat, transforms_handled);
  for (std::int64_t i = 0, n = layout_of(flat).size(); i < n; ++i)
    if (!(w[i] >= 0 && w[i] <= std::numeric_limits<double>::max()))
      raise<ValueError>({function, ": the weights must be finite and not negative, got ", w[i]});
}

}  // namespace detail
NAX_END
