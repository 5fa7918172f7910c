#pragma once

#include "nax/linalg/products.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& extents) {
  const std::size_t n = extents.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) {
      const std::size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1];
        if (c < cost[i][j]) cost[i][j] = c, cut[i][j] = k;
      }
    }
  return cut;
}

}  // namespace detail
NAX_END
