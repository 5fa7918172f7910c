#pragma once

#include "nax/numpy/padding/pad.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t padded_position(std::string_view mode, std::int64_t i, std::int64_t n) {
  if (mode == "edge") return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == "wrap") return (i % n + n) % n;
  const std::int64_t period = mode == "reflect" ? 2 * (n - 1) : 2 * n;
  if (period == 0) return 0;  // a single element reflects itself
  i = (i % period + period) % period;
  if (i < n) return i;
  return mode == "reflect" ? period - i : period - 1 - i;
}

NAX_ENGINE bool is_pad_statistic(std::string_view mode) {
  for (const std::string_view name : pad_statistics)
    if (mode == name) return true;
  return false;
}

NAX_ENGINE void check_pad_mode(std::string_view mode, std::string_view reflect_type) {
  const bool reflects = mode == "reflect" || mode == "symmetric";
  if (!reflects && mode != "edge" && mode != "wrap" && mode != "linear_ramp" && !is_pad_statistic(mode))
    raise<ValueError>({"pad: mode '", mode, "' is not supported"});
  if (reflects && reflect_type != "even" && reflect_type != "odd")
    raise<ValueError>({"pad: reflect_type must be 'even' or 'odd', not '", reflect_type, "'"});
}

}  // namespace detail
NAX_END
