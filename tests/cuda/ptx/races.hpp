#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

// Which accesses are ordered, and which are not.
//
// An access is stamped with its thread, the thread's lane clock and its warp's clock. `bar.warp.sync` joins
// the lane clocks of its threads, a barrier those of its warps: an earlier access is ordered before a later
// one if the later thread has seen a clock beyond the stamp. Accesses of different blocks are ordered by a
// release (a fence, then a strong write) whose value an acquiring block has read.
//
// Strong accesses (atomic, volatile, relaxed, acquire, release) do not race with each other.
namespace ptx {

struct Stamp {
  static constexpr std::uint16_t nothing = 0xFFFF;
  std::uint32_t block = 0;
  std::uint32_t lane_clock = 0, warp_clock = 0, block_clock = 0;
  std::uint16_t thread = nothing;
  bool strong = false;
  bool exists() const { return thread != nothing; }
};

struct LaneClocks {
  std::uint32_t seen[32][32] = {};  // what lane i knows of lane j; seen[i][i] is its own clock
  void join(std::uint32_t lanes);
};

struct BlockClocks {
  std::uint32_t number = 0, clock = 1;
  std::vector<std::vector<std::uint32_t>> seen;             // of warps, as LaneClocks
  std::unordered_map<std::uint32_t, std::uint32_t> blocks;  // what it knows of others
  void join(const std::vector<bool>& warps);
};

// The accessing thread, with the clocks that it has seen.
struct Viewer {
  std::uint16_t thread;
  const LaneClocks* lanes;
  const BlockClocks* block;
  Stamp stamp(bool strong) const;
  bool knows(const Stamp& earlier) const;
};

// The last accesses of a byte.
struct Cell {
  Stamp write;
  Stamp reads[3];
  // The access that the new one races with, or null; then it is noted.
  const Stamp* read(const Viewer& by, bool strong);
  const Stamp* wrote(const Viewer& by, bool strong);
};

class SharedShadow {
 public:
  void resize(std::size_t bytes) { cells_.assign(bytes, Cell()); }
  Cell& at(std::size_t byte) { return cells_[byte]; }

 private:
  std::vector<Cell> cells_;
};

// Of global memory within a launch.
class GlobalShadow {
 public:
  Cell& at(std::uint64_t address) { return cells_[address]; }
  // Clocks released at a location, by block.
  std::unordered_map<std::uint32_t, std::uint32_t>& released(std::uint64_t address) {
    return released_[address];
  }

 private:
  std::unordered_map<std::uint64_t, Cell> cells_;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint32_t, std::uint32_t>> released_;
};

}  // namespace ptx
