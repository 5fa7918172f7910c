#pragma once

#include "nax/parallel/collectives.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<MappedAxis> find_axes(const char* function, const AxisName& names) {
  if (names.empty()) raise<ValueError>({function, ": no axis is named"});
  std::vector<MappedAxis> axes;
  for (const std::string& name : names.names()) axes.push_back(find_axis(function, name));
  return axes;
}

NAX_ENGINE MappedAxis find_one_axis(const char* function, const AxisName& names) {
  const auto axes = find_axes(function, names);
  if (axes.size() > 1) raise<ValueError>({function, ": takes one axis, not several"});
  return axes[0];
}

NAX_ENGINE std::int64_t total_size(const std::vector<MappedAxis>& axes) {
  std::int64_t n = 1;
  for (const MappedAxis& axis : axes) n *= axis.size;
  return n;
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE Array<std::int32_t> axis_index(const AxisName& axis_name) {
  const auto axis = detail::find_one_axis("axis_index", axis_name);
  if (axis.on_devices) return Array<std::int32_t>(axis.index);
  Frame frame;
  frame.levels.push_back(axis.level);
  frame.shape.push_back(axis.size);
  const ArrayBase result = detail::allocate_on_host(DType::int32, frame);
  for (std::int64_t i = 0; i < axis.size; ++i)
    detail::elements<std::int32_t>(result)[i] = static_cast<std::int32_t>(i);
  return detail::typed<std::int32_t>(detail::placed(result));
}

NAX_END
