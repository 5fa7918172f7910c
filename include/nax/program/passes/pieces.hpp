#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "nax/program/replay/walks.hpp"

// The bytes of a slot that an operand touches, as ascending intervals [begin, end).
NAX_BEGIN
namespace program::detail {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Returns the intervals of an operand, or none if there are too many or its elements overlap.
inline std::optional<Intervals> intervals_of(const Operand& x) {
  constexpr std::int64_t most = 1 << 12;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // strides and extents, the longest stride last
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    if (x.shape[axis] == 1) continue;
    if (x.shape[axis] == 0 || x.strides[axis] <= 0) return std::nullopt;
    axes.push_back({x.strides[axis], x.shape[axis]});
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t run = 1;
  std::size_t first = 0;
  for (; first < axes.size() && axes[first].first == run; ++first) run *= axes[first].second;
  const std::int64_t size = static_cast<std::int64_t>(dtype_size(x.dtype));
  std::int64_t count = 1, reach = run;
  for (std::size_t i = first; i < axes.size(); ++i) {
    if (axes[i].first < reach) return std::nullopt;
    reach += (axes[i].second - 1) * axes[i].first;
    if ((count *= axes[i].second) > most) return std::nullopt;
  }
  Intervals all;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t at = 0, rest = k;
    for (std::size_t i = first; i < axes.size(); rest /= axes[i].second, ++i)
      at += rest % axes[i].second * axes[i].first;
    const std::int64_t begin = x.place.offset + at * size;
    if (!all.empty() && all.back().second == begin)
      all.back().second += run * size;
    else
      all.push_back({begin, begin + run * size});
  }
  return all;
}
// Both together, or none where they overlap.
inline std::optional<Intervals> joined(const Intervals& a, const Intervals& b) {
  Intervals all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].first < all[kept].second) return std::nullopt;
    if (all[i].first == all[kept].second)
      all[kept].second = all[i].second;
    else
      all[++kept] = all[i];
  }
  if (!all.empty()) all.resize(kept + 1);
  return all;
}

}  // namespace program::detail
NAX_END
