#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string_view>
#include <vector>

#include "nax/core/compiled_once.hpp"
#include "nax/core/error.hpp"

// How wide the bins of a histogram should be, from the values themselves: NumPy's rules, and where they come
// from.
NAX_BEGIN
namespace detail {

// The values that lie in the range of the histogram, and what the rules ask of them.
struct BinSample {
  std::vector<double> values;  // ascending, not empty
  double first, last;          // the range

  double count() const { return static_cast<double>(values.size()); }
  double spread() const { return values.back() - values.front(); }
  double mean() const { return std::accumulate(values.begin(), values.end(), 0.0) / count(); }
  double deviation() const {
    const double m = mean();
    double sum = 0;
    for (const double v : values) sum += (v - m) * (v - m);
    return std::sqrt(sum / count());
  }
  double quantile(double q) const {
    const double place = rounded(q * (count() - 1)), floor = std::floor(place);
    const std::size_t low = static_cast<std::size_t>(floor), high = std::min(low + 1, values.size() - 1);
    return values[low] + (values[high] - values[low]) * (place - floor);
  }
};

// Stone (1984): the number of bins with the smallest estimated error under cross-validation.
NAX_ENGINE double stone_width(const BinSample& x);

// The width that a rule gives; 0 where it has none. Throws ValueError for a rule that is not known.
NAX_ENGINE double bin_width(const char* function, std::string_view rule, const BinSample& x);

// The number of bins by a rule. `whole`: of integers, which no bin should divide.
NAX_ENGINE std::int64_t bins_by_rule(const char* function, std::string_view rule, std::vector<double> values,
                                     double first, double last, bool whole);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/statistics/bin_rules-inl.hpp"
#endif
