#include "cuda/ptx/races.hpp"

#include <algorithm>

namespace ptx {

void LaneClocks::join(std::uint32_t lanes) {
  std::uint32_t all[32] = {};
  for (int i = 0; i < 32; ++i)
    if (lanes >> i & 1) {
      ++seen[i][i];
      for (int j = 0; j < 32; ++j) all[j] = std::max(all[j], seen[i][j]);
    }
  for (int i = 0; i < 32; ++i)
    if (lanes >> i & 1) std::copy_n(all, 32, seen[i]);
}

void BlockClocks::join(const std::vector<bool>& warps) {
  std::vector<std::uint32_t> all(seen.size());
  for (std::size_t w = 0; w < seen.size(); ++w)
    if (warps[w]) {
      ++seen[w][w];
      for (std::size_t v = 0; v < seen.size(); ++v) all[v] = std::max(all[v], seen[w][v]);
    }
  for (std::size_t w = 0; w < seen.size(); ++w)
    if (warps[w]) seen[w] = all;
}

Stamp Viewer::stamp(bool strong) const {
  const unsigned lane = thread % 32u, warp = thread / 32u;
  return {block->number, lanes->seen[lane][lane], block->seen[warp][warp], block->clock, thread, strong};
}

bool Viewer::knows(const Stamp& earlier) const {
  if (earlier.block != block->number) {
    const auto other = block->blocks.find(earlier.block);
    return other != block->blocks.end() && other->second > earlier.block_clock;
  }
  if (earlier.thread == thread) return true;
  const unsigned lane = thread % 32u, warp = thread / 32u;
  if (block->seen[warp][earlier.thread / 32u] > earlier.warp_clock) return true;
  return earlier.thread / 32u == warp && lanes->seen[lane][earlier.thread % 32u] > earlier.lane_clock;
}

const Stamp* Cell::read(const Viewer& by, bool strong) {
  if (write.exists() && !(strong && write.strong) && !by.knows(write)) return &write;
  Stamp* free = nullptr;
  for (Stamp& r : reads)
    if (!r.exists() || by.knows(r)) free = &r;
  if (!free) free = &reads[by.thread % 3u];
  *free = by.stamp(strong);
  return nullptr;
}

const Stamp* Cell::wrote(const Viewer& by, bool strong) {
  if (write.exists() && !(strong && write.strong) && !by.knows(write)) return &write;
  for (Stamp& r : reads)
    if (r.exists() && !(strong && r.strong) && !by.knows(r)) return &r;
  for (Stamp& r : reads) r = Stamp();
  write = by.stamp(strong);
  return nullptr;
}

}  // namespace ptx
