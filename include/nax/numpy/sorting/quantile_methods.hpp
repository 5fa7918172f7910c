#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "nax/core/compiled_once.hpp"
#include "nax/core/error.hpp"

// Where a quantile lies among n sorted numbers: NumPy's thirteen methods. The nine of Hyndman and Fan,
// "Sample quantiles in statistical packages" (1996), are lines through the places (i - alpha) / (n + 1 -
// alpha - beta) or steps between them; the others come from NumPy's own history.
NAX_BEGIN
namespace detail {

enum class QuantileMethod {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest
};

NAX_ENGINE QuantileMethod quantile_method(const char* function, std::string_view name);

// Between the places `low` and `high`, `weight` of the way.
struct QuantilePlace {
  std::int64_t low, high;
  double weight;
};

NAX_ENGINE QuantilePlace quantile_place(QuantileMethod method, double q, std::int64_t n);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sorting/quantile_methods-inl.hpp"
#endif
