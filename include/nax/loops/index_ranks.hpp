#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nax/loops/select_loop.hpp"

// Indices that name a place again. The loops of the host; a GPU has kernels of its own.
NAX_BEGIN
namespace loops {

// ranks[i] = how many indices of its line equal index i and come before (or after) it; 0 for dropped ones. No
// index is less than 0.
inline void rank_indices(std::int64_t lines, std::int64_t n, bool after, const std::int64_t* index,
                         std::int64_t* ranks) {
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < lines * n; ++i) last = std::max(last, index[i]);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(last + 1), 0);
  for (std::int64_t line = 0; line < lines; ++line, index += n, ranks += n) {
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = after ? n - 1 - k : k;
      ranks[i] = index[i] == dropped_index ? 0 : seen[static_cast<std::size_t>(index[i])]++;
    }
    for (std::int64_t i = 0; i < n; ++i)
      if (index[i] != dropped_index) seen[static_cast<std::size_t>(index[i])] = 0;
  }
}

// to[i] = from[i] where ranks[i] is `rank`, and a dropped index elsewhere.
inline void keep_ranked(std::int64_t n, const std::int64_t* ranks, std::int64_t rank,
                        const std::int64_t* from, std::int64_t* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = ranks[i] == rank ? from[i] : dropped_index;
}

}  // namespace loops
NAX_END
