#pragma once

#include "nax/numpy/sequences/interpolate.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Brackets brackets(const Array<std::int32_t>& before, std::int64_t last) {
  const ArrayBase flat = contiguous(before, transforms_handled);
  Brackets result{typed<std::int64_t>(allocate_on_host(DType::int64, layout_of(flat))),
                  typed<std::int64_t>(allocate_on_host(DType::int64, layout_of(flat)))};
  const std::int32_t* from = elements<const std::int32_t>(flat, transforms_handled);
  std::int64_t *left = elements<std::int64_t>(result.left), *right = elements<std::int64_t>(result.right);
  for (std::int64_t i = 0, n = layout_of(flat).size(); i < n; ++i) {
    right[i] = std::min(std::max<std::int64_t>(from[i], 1), last);
    left[i] = std::max<std::int64_t>(right[i] - 1, 0);
  }
  return result;
}

}  // namespace detail
NAX_END
