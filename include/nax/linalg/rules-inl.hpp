#pragma once

#include "nax/linalg/rules.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame frame_like(const Frame& a, std::initializer_list<std::int64_t> tail) {
  Frame frame = leading_axes(a);
  for (std::int64_t extent : tail) frame.shape.push_back(extent);
  count_elements("linalg", frame.shape);
  return frame;
}

}  // namespace detail
NAX_END
