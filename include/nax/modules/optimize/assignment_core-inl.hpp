#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/optimize/assignment_core.hpp"

NAX_BEGIN
namespace optimize::detail {

NAX_ENGINE std::vector<std::int64_t> assign_rows(std::size_t rows, std::size_t columns, const Vector& cost) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double c : cost)
    if (std::isnan(c) || c == -inf)
      raise<ValueError>({"linear_sum_assignment: cost has an invalid element: ", InText{c}});
  const std::size_t none = columns + rows;
  Vector u(rows), v(columns), shortest(columns);
  std::vector<std::size_t> column_of(rows, none), row_of(columns, none), from(columns), left;
  std::vector<bool> row_seen(rows), column_seen(columns);
  for (std::size_t start = 0; start < rows; ++start) {
    shortest.assign(columns, inf);
    row_seen.assign(rows, false);
    column_seen.assign(columns, false);
    left.clear();
    for (std::size_t j = columns; j-- > 0;) left.push_back(j);
    double least = 0;
    std::size_t i = start, sink = none;
    while (sink == none) {
      row_seen[i] = true;
      std::size_t best = none;
      double lowest = inf;
      for (std::size_t k = 0; k < left.size(); ++k) {
        const std::size_t j = left[k];
        const double r = least + cost[i * columns + j] - u[i] - v[j];
        if (r < shortest[j]) {
          from[j] = i;
          shortest[j] = r;
        }
        // Of equal columns one that is free ends the path.
        if (shortest[j] < lowest || (shortest[j] == lowest && row_of[j] == none)) {
          lowest = shortest[j];
          best = k;
        }
      }
      least = lowest;
      if (least == inf)
        raise<ValueError>({"linear_sum_assignment: no assignment of the ", rows, " rows and ", columns,
                           " columns has a finite cost"});
      const std::size_t j = left[best];
      if (row_of[j] == none)
        sink = j;
      else
        i = row_of[j];
      column_seen[j] = true;
      left[best] = left.back();
      left.pop_back();
    }
    u[start] += least;
    for (std::size_t k = 0; k < rows; ++k)
      if (row_seen[k] && k != start) u[k] += least - shortest[column_of[k]];
    for (std::size_t j = 0; j < columns; ++j)
      if (column_seen[j]) v[j] -= least - shortest[j];
    for (std::size_t j = sink;;) {
      const std::size_t row = from[j];
      row_of[j] = row;
      std::swap(column_of[row], j);
      if (row == start) break;
    }
  }
  return std::vector<std::int64_t>(column_of.begin(), column_of.end());
}

NAX_ENGINE void assign_pairs(std::size_t rows, std::size_t columns, const Vector& cost, bool swapped,
                             std::vector<std::int64_t>& first, std::vector<std::int64_t>& second) {
  const std::vector<std::int64_t> to = assign_rows(rows, columns, cost);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i);
    pairs.push_back(swapped ? std::pair{to[i], row} : std::pair{row, to[i]});
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [i, j] : pairs) {
    first.push_back(i);
    second.push_back(j);
  }
}

}  // namespace optimize::detail
NAX_END
