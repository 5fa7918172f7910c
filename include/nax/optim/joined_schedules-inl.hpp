#pragma once

#include "nax/optim/joined_schedules.hpp"

NAX_BEGIN
namespace optim::detail {

NAX_ENGINE std::vector<std::pair<std::int64_t, double>> interpolation_points(
    std::string_view interpolate_type, double init_value,
    const std::map<std::int64_t, double>& boundaries_and_scales) {
  if (interpolate_type != "linear" && interpolate_type != "cosine")
    raise<ValueError>({"piecewise_interpolate_schedule: interpolate_type must be 'linear' or 'cosine', not '",
                       interpolate_type, "'"});
  std::vector<std::pair<std::int64_t, double>> points = {{0, init_value}};
  for (const auto& [boundary, scale] : boundaries_and_scales) {
    if (scale < 0) throw ValueError("piecewise_interpolate_schedule: the scales must not be negative");
    points.push_back({boundary, points.back().second * scale});
  }
  return points;
}

}  // namespace optim::detail
NAX_END
