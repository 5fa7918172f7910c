#include "cuda/ptx/grid.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <numeric>

#include "cuda/ptx/barriers.hpp"

// Which thread runs next: blocks, warps and threads take turns in random order.
namespace ptx {

namespace {

constexpr unsigned resident_blocks = 8;
constexpr unsigned share = 3000;  // steps of a thread before the next has its turn

std::uint64_t preset(const Thread& t, const Preset& p) {
  const auto axis = [&](const Dim3& d) { return p.axis == 0 ? d.x : p.axis == 1 ? d.y : d.z; };
  const Launch& launch = t.grid->launch;
  const std::uint32_t one = std::uint32_t{1} << t.lane;
  switch (p.kind) {
    case Preset::constant:
      return p.value;
    case Preset::local_address:
      return t.local_base + p.value;
    case Preset::tid:
      return axis(t.tid);
    case Preset::ntid:
      return axis(launch.threads);
    case Preset::ctaid:
      return axis(t.block->ctaid);
    case Preset::nctaid:
      return axis(launch.blocks);
    case Preset::laneid:
      return t.lane;
    case Preset::warpid:
      return t.warp->index;
    case Preset::nwarpid:
      return t.block->warps.size();
    case Preset::mask_eq:
      return one;
    case Preset::mask_le:
      return one | (one - 1);
    case Preset::mask_lt:
      return one - 1;
    case Preset::mask_ge:
      return static_cast<std::uint32_t>(~(one - 1));
    case Preset::mask_gt:
      return static_cast<std::uint32_t>(~(one | (one - 1)));
    case Preset::smid:
      return t.block->number % resident_blocks;
    case Preset::nsmid:
      return resident_blocks;
    case Preset::dynamic_shared:
      return launch.dynamic_shared;
    case Preset::extern_shared:
      return (launch.kernel->shared_bytes + 15) / 16 * 16;
    case Preset::total_shared:
      return t.block->shared.size();
  }
  return 0;
}

std::unique_ptr<Block> make_block(Grid& grid, std::uint64_t number) {
  auto block = std::make_unique<Block>();
  const Launch& launch = grid.launch;
  block->grid = &grid;
  block->number = number;
  block->ctaid = {static_cast<std::uint32_t>(number % launch.blocks.x),
                  static_cast<std::uint32_t>(number / launch.blocks.x % launch.blocks.y),
                  static_cast<std::uint32_t>(number / launch.blocks.x / launch.blocks.y)};
  const std::uint32_t n = static_cast<std::uint32_t>(launch.threads.count());
  block->shared.assign((launch.kernel->shared_bytes + 15) / 16 * 16 + launch.dynamic_shared,
                       static_cast<char>(0xCB));
  block->shadow.resize(block->shared.size());
  block->warps.resize((n + 31) / 32);
  block->threads.resize(n);
  block->clocks.number = static_cast<std::uint32_t>(number);
  block->clocks.seen.assign(block->warps.size(), std::vector<std::uint32_t>(block->warps.size()));
  for (std::uint32_t w = 0; w < block->warps.size(); ++w) {
    Warp& warp = block->warps[w];
    warp.block = block.get();
    warp.index = w;
    warp.first = w * 32;
    warp.size = std::min(32u, n - w * 32);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    Thread& t = block->threads[i];
    t.grid = &grid;
    t.block = block.get();
    t.warp = &block->warps[i / 32];
    t.index = i;
    t.lane = i % 32;
    t.tid = {i % launch.threads.x, i / launch.threads.x % launch.threads.y,
             i / launch.threads.x / launch.threads.y};
    enter(t, *launch.kernel, 0);
  }
  return block;
}

void run_thread(Thread& t) {
  unsigned left = share;
  t.yields = false;
  Grid& grid = *t.grid;
  while (left != 0 && t.state == State::ready && !t.yields) {
    --left;
    if (t.pc >= t.function->code.size()) t.fault("runs beyond the end of the function");
    const Instruction& i = t.function->code[t.pc++];
    if (i.guard != no_slot && t.predicate(i.guard) == i.guard_negated) continue;
    i.run(t, i);
  }
  if (left != share) grid.moved = true;
  grid.steps += share - left;
}

void run_block(Block& block) {
  const auto first = block.grid->random();
  const std::size_t warps = block.warps.size();
  for (std::size_t w = 0; w < warps; ++w) {
    Warp& warp = block.warps[(w + first) % warps];
    const auto lane = block.grid->random();
    for (std::uint32_t l = 0; l < warp.size; ++l) {
      Thread& t = warp.thread((l + lane) % warp.size);
      if (t.state == State::ready) run_thread(t);
    }
  }
}

}  // namespace

void enter(Thread& t, const Function& function, std::uint32_t local_base) {
  t.function = &function;
  t.pc = 0;
  t.local_base = local_base;
  if (t.slots.size() < t.base + function.slots) t.slots.resize(t.base + function.slots);
  if (t.local.size() < local_base + function.local_bytes)
    t.local.resize(local_base + function.local_bytes, char(0xCB));
  t.r = t.slots.data() + t.base;
  std::fill_n(t.r, function.slots, 0xCBCBCBCBCBCBCBCBu);
  for (const Preset& p : function.presets) t.r[p.slot] = preset(t, p);
}

std::uint64_t Thread::grid_steps() const { return grid->steps; }

std::string readable(const std::string& mangled) {
  int status = 0;
  char* const name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : mangled;
  std::free(name);
  if (const std::size_t open = text.find('('); open != std::string::npos && text.back() == ')')
    text.resize(open);
  if (text.size() > 200) text = text.substr(0, 197) + "...";
  return text;
}

void Thread::fault(const std::string& problem) const {
  const Launch& l = grid->launch;
  const auto triple = [](const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
  };
  const std::uint32_t at = pc - 1;
  const int line = at < function->code.size() ? function->code[at].line : 0;
  throw Fault("kernel " + readable(l.kernel->name) + ", block " + triple(block->ctaid) + ", thread " +
              triple(tid) + ", line " + std::to_string(line) + " `" + l.module->line(line) + "`: " + problem);
}

std::uint64_t run(const Launch& launch) {
  Grid grid(launch);
  const std::uint64_t count = launch.blocks.count();
  if (launch.threads.count() > launch.kernel->most_threads || launch.threads.count() == 0 || count == 0)
    throw Fault("kernel " + readable(launch.kernel->name) + ": " + std::to_string(count) + " blocks of " +
                std::to_string(launch.threads.count()) + " threads, of at most " +
                std::to_string(launch.kernel->most_threads));
  std::vector<std::unique_ptr<Block>> resident;
  // Blocks begin in random order within a window. When none of them can go on, the lowest-numbered waiting
  // block begins: kernels may rely on blocks of lower numbers having begun.
  std::vector<std::uint64_t> window;
  std::uint64_t next = 0;
  const auto admit = [&](bool lowest) {
    while (window.size() < 2 * resident_blocks && next < count) window.push_back(next++);
    if (window.empty()) return;
    const auto chosen = lowest ? std::min_element(window.begin(), window.end())
                               : window.begin() + static_cast<std::ptrdiff_t>(grid.random() % window.size());
    resident.push_back(make_block(grid, *chosen));
    window.erase(chosen);
  };
  while (true) {
    while (resident.size() < resident_blocks && (next < count || !window.empty())) admit(false);
    if (resident.empty()) return grid.steps;
    grid.moved = false;
    bool ended = false;
    std::shuffle(resident.begin(), resident.end(), grid.random);
    for (auto& block : resident) {
      run_block(*block);
      if (block->ended == block->threads.size()) {
        block.reset();
        ended = true;
      }
    }
    std::erase(resident, nullptr);
    const bool more = next < count || !window.empty();
    if (!ended && more) admit(true);
    if (!grid.moved && !ended && !more) report_deadlock(*resident.front());
    if (grid.steps > launch.most_steps)
      throw Fault("kernel " + readable(launch.kernel->name) + ": has not ended after " +
                  std::to_string(grid.steps) + " steps");
  }
}

}  // namespace ptx
