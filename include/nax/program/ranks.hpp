#pragma once

#include <cstdint>
#include <unordered_map>

#include "nax/loops/select_loop.hpp"

NAX_BEGIN
namespace program::detail {

// ranks[i] = how many indices of its line equal index i and come before (or after) it; 0 for dropped ones.
inline void rank_indices(std::int64_t lines, std::int64_t n, bool after, const std::int64_t* index,
                         std::int64_t* ranks) {
  std::unordered_map<std::int64_t, std::int64_t> seen;
  for (std::int64_t line = 0; line < lines; ++line, index += n, ranks += n) {
    seen.clear();
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = after ? n - 1 - k : k;
      ranks[i] = index[i] == loops::dropped_index ? 0 : seen[index[i]]++;
    }
  }
}

}  // namespace program::detail
NAX_END
