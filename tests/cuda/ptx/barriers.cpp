#include "cuda/ptx/barriers.hpp"

#include "cuda/ptx/grid.hpp"

namespace ptx {
namespace {

// Lanes as ranges: 0-3, 7.
std::string lanes_of(std::uint32_t mask) {
  std::string text;
  for (int i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    int end = i;
    while (end < 31 && mask >> (end + 1) & 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(i) + (end > i ? "-" + std::to_string(end) : "");
    i = end;
  }
  return text;
}

void try_warp(Warp& warp, std::uint32_t mask) {
  const std::uint32_t need = mask & warp.all() & ~warp.ended;
  const Instruction* first = nullptr;
  for (std::uint32_t lane = 0; lane < warp.size; ++lane) {
    if (!(need >> lane & 1)) continue;
    const Thread& t = warp.thread(lane);
    if (t.state != State::at_warp || t.mask != mask) return;
    if (!first)
      first = t.waits;
    else if (t.waits->group != first->group || t.waits->mode != first->mode)
      return;
  }
  if (!first) return;
  first->group(warp, *first, need);
  for (std::uint32_t lane = 0; lane < warp.size; ++lane)
    if (need >> lane & 1) {
      Thread& t = warp.thread(lane);
      t.state = State::ready;
      t.waits = nullptr;
    }
  warp.block->grid->moved = true;
}

void try_barrier(Block& block, unsigned number) {
  Barrier& b = block.barriers[number];
  const std::size_t alive = block.threads.size() - block.ended;
  if (b.arrived.empty() || b.arrived.size() < (b.expected ? b.expected : alive)) return;
  std::vector<bool> warps(block.warps.size());
  std::uint64_t all = 1, any = 0, count = 0;
  for (const std::uint32_t index : b.arrived) {
    const Thread& t = block.threads[index];
    warps[index / 32] = true;
    all &= t.voted, any |= t.voted, count += t.voted;
  }
  // A barrier of whole warps needs their threads at one instruction.
  for (const std::uint32_t index : b.arrived) {
    const Thread& t = block.threads[index];
    if (t.state != State::at_barrier || t.barrier != number || !(t.waits->mode & aligned)) continue;
    for (std::uint32_t lane = 0; lane < t.warp->size; ++lane) {
      const Thread& other = t.warp->thread(lane);
      if (other.state == State::ended) continue;
      if (other.state != State::at_barrier || other.barrier != number || other.waits != t.waits)
        t.fault("barrier: thread " + std::to_string(other.index) +
                " of the same warp is not at this barrier");
    }
  }
  block.clocks.join(warps);
  for (const std::uint32_t index : b.arrived) {
    Thread& t = block.threads[index];
    if (t.state != State::at_barrier || t.barrier != number) continue;
    const Instruction& i = *t.waits;
    if (i.mode & reduce_and) t.put<std::uint64_t>(i.at[0], all);
    if (i.mode & reduce_or) t.put<std::uint64_t>(i.at[0], any);
    if (i.mode & reduce_popc) t.put<std::uint64_t>(i.at[0], count);
    t.state = State::ready;
    t.waits = nullptr;
  }
  b = Barrier();
  block.grid->moved = true;
}

}  // namespace

void wait_for_warp(Thread& t, const Instruction& i, std::uint32_t mask) {
  if (!(mask >> t.lane & 1))
    t.fault("mask: the thread is lane " + std::to_string(t.lane) + ", and not in its own mask of lanes " +
            lanes_of(mask));
  t.state = State::at_warp;
  t.mask = mask;
  t.waits = &i;
  try_warp(*t.warp, mask);
}

void wait_at_barrier(Thread& t, const Instruction& i, std::uint32_t number, std::uint32_t expected,
                     bool arrives_only) {
  if (number >= 16) t.fault("barrier: there is no barrier " + std::to_string(number));
  Block& block = *t.block;
  Barrier& b = block.barriers[number];
  if (!b.arrived.empty() && b.expected != expected)
    t.fault("barrier: waits for " + std::to_string(expected) + " threads, and others for " +
            std::to_string(b.expected));
  b.expected = expected;
  b.arrived.push_back(t.index);
  if (!arrives_only) {
    t.state = State::at_barrier;
    t.barrier = number;
    t.waits = &i;
  }
  try_barrier(block, number);
}

void end_thread(Thread& t) {
  t.state = State::ended;
  ++t.block->ended;
  t.warp->ended |= std::uint32_t{1} << t.lane;
  for (unsigned b = 0; b < 16; ++b) try_barrier(*t.block, b);
  for (std::uint32_t lane = 0; lane < t.warp->size; ++lane)
    if (Thread& other = t.warp->thread(lane); other.state == State::at_warp) try_warp(*t.warp, other.mask);
}

void report_deadlock(Block& block) {
  for (const Thread& t : block.threads) {
    if (t.state == State::at_warp) {
      std::uint32_t missing = 0;
      for (std::uint32_t lane = 0; lane < t.warp->size; ++lane) {
        const Thread& other = t.warp->thread(lane);
        const bool here =
            other.state == State::at_warp && other.mask == t.mask && other.waits->group == t.waits->group;
        if (t.mask >> lane & 1 && other.state != State::ended && !here) missing |= std::uint32_t{1} << lane;
      }
      t.fault("deadlock: waits for lanes " + lanes_of(missing) + " of its mask, which do not come");
    }
  }
  for (const Thread& t : block.threads)
    if (t.state == State::at_barrier)
      t.fault("deadlock: waits at barrier " + std::to_string(t.barrier) + ", where " +
              std::to_string(block.barriers[t.barrier].arrived.size()) + " of " +
              std::to_string(block.barriers[t.barrier].expected ? block.barriers[t.barrier].expected
                                                                : block.threads.size() - block.ended) +
              " threads are");
  throw Fault("deadlock of a block without threads");
}

}  // namespace ptx
