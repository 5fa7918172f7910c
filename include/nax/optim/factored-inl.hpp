#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "nax/optim/factored.hpp"

NAX_BEGIN
namespace optim::detail {

NAX_ENGINE std::optional<std::array<int, 2>> factored_axes(const Shape& shape, const FactoredRmsOptions& o) {
  const int n = static_cast<int>(shape.size());
  if (!o.factored || n < 2) return std::nullopt;
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return shape[static_cast<std::size_t>(a)] < shape[static_cast<std::size_t>(b)];
  });
  const int second = order[static_cast<std::size_t>(n - 2)], first = order[static_cast<std::size_t>(n - 1)];
  if (shape[static_cast<std::size_t>(second)] < o.min_dim_size_to_factor) return std::nullopt;
  return std::array{second, first};
}

}  // namespace optim::detail
NAX_END
