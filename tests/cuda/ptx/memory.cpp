#include <cinttypes>
#include <cstdio>

#include "cuda/ptx/grid.hpp"

// Addresses of threads as the host's, checked.
namespace ptx {
namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}
const char* name_of(Access access) {
  return access == Access::read ? "reads" : access == Access::write ? "writes" : "updates";
}

std::string who(const Thread& t, const Stamp& stamp) {
  return "thread " + std::to_string(stamp.thread) +
         (stamp.block == t.block->clocks.number ? "" : " of block " + std::to_string(stamp.block));
}

void check_race(Thread& t, Cell& cell, const char* space, std::uint64_t address, Access access, bool strong) {
  const Viewer viewer{static_cast<std::uint16_t>(t.index), &t.warp->clocks, &t.block->clocks};
  const Stamp* const other = access == Access::read ? cell.read(viewer, strong) : cell.wrote(viewer, strong);
  if (!other) return;
  const bool wrote = other == &cell.write;
  t.fault("race: " + std::string(name_of(access)) + " " + space + " memory at " + hexadecimal(address) +
          ", which " + who(t, *other) + (wrote ? " writes" : " reads") + " without a barrier between");
}

char* reach_shared(Thread& t, const Instruction& i, std::uint64_t at, std::uint32_t bytes, Access access) {
  Block& block = *t.block;
  if (at > block.shared.size() || bytes > block.shared.size() - at)
    t.fault("out of range: " + std::string(name_of(access)) + " shared memory at " + hexadecimal(at) +
            ", of " + std::to_string(block.shared.size()) + " bytes");
  const Checks& checks = t.grid->launch.checks;
  if (checks.shared_races || checks.unwritten_shared)
    for (std::uint32_t b = 0; b < bytes; ++b) {
      Cell& cell = block.shadow.at(at + b);
      if (checks.unwritten_shared && access != Access::write && !cell.write.exists())
        t.fault("uninitialised: " + std::string(name_of(access)) + " shared memory at " + hexadecimal(at) +
                ", which no thread has written");
      if (checks.shared_races)
        check_race(t, cell, "shared", at + b, access, i.strong);
      else if (access != Access::read)
        cell.write.thread = 0;
    }
  return block.shared.data() + at;
}

char* reach_global(Thread& t, const Instruction& i, std::uint64_t address, std::uint32_t bytes,
                   Access access) {
  Grid& grid = *t.grid;
  const char* const at = reinterpret_cast<const char*>(address);
  const char* const end = at + bytes;
  bool found = false;
  for (const Extent& e : grid.last)
    if (e.begin && at >= e.begin && end <= e.end && end >= at) found = true;
  if (!found) {
    Extent e = grid.launch.allocation(at, bytes);
    if (!e.begin)
      t.fault("out of range: " + std::string(name_of(access)) + " " + std::to_string(bytes) +
              " bytes of global memory at " + hexadecimal(address) + "; " + e.described);
    grid.last[grid.next++ % 4] = std::move(e);
  }
  if (grid.launch.checks.global_races)
    for (std::uint32_t b = 0; b < bytes; ++b)
      check_race(t, grid.shadow.at(address + b), "global", address + b, access, i.strong);
  if (access != Access::read && !i.strong) t.unfenced = true;
  return reinterpret_cast<char*>(address);
}

}  // namespace

char* reach(Thread& t, const Instruction& i, std::uint64_t address, std::uint32_t bytes, Access access) {
  Space space = i.space;
  if (space == Space::generic) {
    const std::uint64_t top = address >> 56;
    space =
        top == 0 || top > static_cast<std::uint64_t>(Space::param) ? Space::global : static_cast<Space>(top);
  }
  if (address % bytes != 0)
    t.fault("misaligned: " + std::string(name_of(access)) + " " + std::to_string(bytes) + " bytes at " +
            hexadecimal(address));
  if (space == Space::global) return reach_global(t, i, address, bytes, access);
  if (space == Space::param && address >> 56 == static_cast<std::uint64_t>(Space::local))
    space = Space::local;
  const std::uint64_t at = address & offset_mask;
  if (space == Space::shared) return reach_shared(t, i, at, bytes, access);
  if (space == Space::local) {
    if (at > t.local.size() || bytes > t.local.size() - at)
      t.fault("out of range: " + std::string(name_of(access)) + " local memory at " + hexadecimal(at) +
              ", of " + std::to_string(t.local.size()) + " bytes");
    return t.local.data() + at;
  }
  const std::vector<char>& params = t.grid->launch.params;
  if (access != Access::read || at > params.size() || bytes > params.size() - at)
    t.fault("out of range: " + std::string(name_of(access)) + " the parameters at " + hexadecimal(at));
  return const_cast<char*>(params.data()) + at;
}

void release(Thread& t, std::uint64_t address) {
  if (!t.grid->launch.checks.global_races || t.unfenced) return;
  BlockClocks& own = t.block->clocks;
  auto& to = t.grid->shadow.released(address);
  for (const auto& [block, clock] : own.blocks)
    if (to[block] < clock) to[block] = clock;
  to[own.number] = ++own.clock;
}
void acquire(Thread& t, std::uint64_t address) {
  if (!t.grid->launch.checks.global_races) return;
  BlockClocks& own = t.block->clocks;
  for (const auto& [block, clock] : t.grid->shadow.released(address))
    if (block != own.number && own.blocks[block] < clock) own.blocks[block] = clock;
}

}  // namespace ptx
