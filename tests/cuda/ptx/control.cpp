#include "cuda/ptx/barriers.hpp"
#include "cuda/ptx/grid.hpp"

// Branches, calls, the ends of threads, barriers of blocks and fences.
namespace ptx {
namespace {

void branch(Thread& t, const Instruction& i) { t.pc = i.target; }
void branch_by_table(Thread& t, const Instruction& i) {
  const auto& table = t.function->tables[i.target];
  const auto index = t.get<std::uint32_t>(i.at[0]);
  if (index >= table.size())
    t.fault("brx.idx: entry " + std::to_string(index) + " of " + std::to_string(table.size()));
  t.pc = table[index];
}

void call(Thread& t, const Instruction& i) {
  const Call& call = t.function->calls[i.target];
  const Function* callee = call.callee;
  if (!callee) callee = reinterpret_cast<const Function*>(t.r[i.at[0]]);
  if (t.frames.size() > 200) t.fault("call: more than 200 calls deep");
  t.frames.push_back({t.function, t.pc, t.base, t.local_base, &call});
  const std::uint32_t caller_local = t.local_base;
  const std::uint32_t local = (t.local_base + t.function->local_bytes + 15) / 16 * 16;
  t.base += t.function->slots;
  enter(t, *callee, local);
  for (std::size_t k = 0; k < call.arguments.size() && k < callee->params.size(); ++k)
    std::memcpy(t.local.data() + local + callee->params[k].offset,
                t.local.data() + caller_local + call.arguments[k].offset, callee->params[k].bytes);
}
void give_back(Thread& t, const Instruction&) {
  if (t.frames.empty()) return end_thread(t);
  const Frame frame = t.frames.back();
  t.frames.pop_back();
  for (std::size_t k = 0; k < frame.call->results.size() && k < t.function->results.size(); ++k)
    std::memcpy(t.local.data() + frame.local + frame.call->results[k].offset,
                t.local.data() + t.local_base + t.function->results[k].offset, t.function->results[k].bytes);
  t.function = frame.function;
  t.pc = frame.pc;
  t.base = frame.base;
  t.local_base = frame.local;
  t.r = t.slots.data() + t.base;
}

void fence(Thread& t, const Instruction&) { t.unfenced = false; }
void nothing(Thread&, const Instruction&) {}

// bar.sync a{, b}; bar.red p, a{, b}, p: at[4] and at[5] are the barrier and the count, at[1] the vote.
void barrier(Thread& t, const Instruction& i) {
  if (i.at[1] != no_slot) t.voted = t.predicate(i.at[1]) != ((i.negated >> 1 & 1) != 0);
  const std::uint32_t number = i.at[4] == no_slot ? 0 : t.get<std::uint32_t>(i.at[4]);
  const std::uint32_t expected = i.at[5] == no_slot ? 0 : t.get<std::uint32_t>(i.at[5]);
  if (expected % 32 != 0) t.fault("barrier: " + std::to_string(expected) + " threads are no whole warps");
  wait_at_barrier(t, i, number, expected, (i.mode & arrive) != 0);
}

}  // namespace

bool decode_control(const Words& w, Instruction& i) {
  if (w.root == "bra") return i.run = branch, true;
  if (w.root == "brx") return i.run = branch_by_table, true;
  if (w.root == "call") return i.run = call, true;
  if (w.root == "ret") return i.run = give_back, true;
  if (w.root == "exit") {
    i.run = [](Thread& t, const Instruction&) { end_thread(t); };
    return true;
  }
  if (w.root == "trap") {
    i.run = [](Thread& t, const Instruction&) { t.fault("trap: the kernel ends itself"); };
    return true;
  }
  if (w.root == "nanosleep") {
    i.run = [](Thread& t, const Instruction&) { t.yields = true; };
    return true;
  }
  if (w.root == "membar" || w.root == "fence") return i.run = fence, true;
  if (w.root == "griddepcontrol" || w.root == "setmaxnreg" || w.root == "pmevent")
    return i.run = nothing, true;
  if (w.root == "brkpt") return i.run = nothing, true;
  if ((w.root == "bar" || w.root == "barrier") && !w.has("warp") && !w.has("cluster")) {
    i.mode = w.root == "bar" || w.has("aligned") ? aligned : plain;
    if (w.has("arrive")) i.mode |= arrive;
    if (w.has("red")) i.mode |= w.has("and") ? reduce_and : w.has("or") ? reduce_or : reduce_popc;
    return i.run = barrier, true;
  }
  return false;
}

}  // namespace ptx
