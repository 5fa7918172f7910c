#pragma once

#include "nax/program/passes/step_graph.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

// Steps that will be one. A group knows what it reads and writes, so that joining two looks at no members.
struct Group {
  // A way in which memory is read that no member writes.
  struct Read {
    Walked walked;
    const Operand* operand;  // of a member
  };
  // A slot that is read, and by how many members.
  struct SlotRead {
    int slot, readers;
  };
  bool is_map = false, is_flat = false;
  DType type{};
  Dims shape;  // without axes of extent 1
  std::vector<int> members;
  std::size_t weight = 0, heaviest = 0;  // of all members and of the heaviest one
  std::size_t reduced = 0, written = 0;  // results that are reduced; others that are read outside
  bool only_sums = true;                 // of what is reduced
  std::vector<Read> reads;
  std::vector<SlotRead> slots;
  std::size_t weighed = 0;  // members when the weight of the joined formula was last found out
  std::vector<int> needs;   // steps that must run before it; of several members, whose own are not listed
};

// Of a formula: functions count as so many operations.
inline constexpr std::size_t function_weight = 32;
inline std::size_t weight_of(const formula::Formula& f) {
  std::size_t weight = 0;
  for (const formula::Step& s : f.steps) weight += formula::is_written(s.operation) ? function_weight : 1;
  return weight;
}
inline void add_read(Group& g, Group::Read read) {
  for (const Group::Read& known : g.reads)
    if (known.walked == read.walked) return;
  g.reads.push_back(std::move(read));
}
// `adds`: the readers are other ones than those that are known.
inline void add_slot(Group& g, Group::SlotRead read, bool adds) {
  for (Group::SlotRead& known : g.slots)
    if (known.slot == read.slot) {
      if (adds) known.readers += read.readers;
      return;
    }
  g.slots.push_back(read);
}
// The group of one step. It takes part where it is a map over operands that are complete before it or, with
// reductions, reduces what such a map gives.
inline Group group_of_step(const StepGraph& graph, const std::vector<Slot>& slots, const Step& s, int i,
                           bool reductions) {
  const auto operand = [&](int o) -> const Operand& { return s.operands[static_cast<std::size_t>(o)]; };
  const auto writers = [&](const Operand& x) { return graph.uses(x.place.slot).writers.size(); };
  Group g;
  g.members = {i};
  if (!s.formula || s.unforeseen || s.checks) return g;
  const MapFormula& map = *s.formula;
  if (!map.reduced.empty() && !reductions) return g;
  const Dims& shape = s.operands[0].shape;
  g.type = map.formula.type;
  g.weight = g.heaviest = weight_of(map.formula);
  g.is_flat = true;
  for (const MapFormula::Input& input : map.inputs) {
    if (input.operand < 0) continue;
    const Operand& x = operand(input.operand);
    if (x.place.slot >= 0 && writers(x) > 1 && graph.uses(x.place.slot).writers.back() > i) return g;
    const bool flat = is_run(x.strides, shape) || is_repeated(x.strides, shape);
    const Dims strides = without_ones(shape, x.strides);
    // Lines of elements that lie apart are for kernels that turn tiles.
    if (!flat && !strides.empty() && strides[strides.size() - 1] > 1) return g;
    if (!flat && !strides.empty() && strides[strides.size() - 1] < 0) return g;
    g.is_flat = g.is_flat && flat;
  }
  for (const int result : map.results) {
    const Operand& x = operand(result);
    if (x.place.slot < 0 || x.place.offset != 0 || writers(x) != 1) return g;
    if (!is_run(x.strides, shape) || slots[static_cast<std::size_t>(x.place.slot)].bytes <
                                         static_cast<std::size_t>(size_of(shape)) * dtype_size(x.dtype))
      return g;
  }
  for (const MapFormula::Reduced& reduced : map.reduced) {
    const Operand& x = operand(reduced.operand);
    if (x.place.slot < 0 || x.place.offset != 0 || writers(x) != 1) return g;
    if (is_run(x.strides, shape)) return g;
    ++g.reduced;
    g.only_sums = g.only_sums && reduced.kind == loops::ReduceKind::sum;
    g.is_flat = g.is_flat && is_repeated(x.strides, shape);
  }
  g.shape = without_ones(shape, shape);
  g.is_map = size_of(shape) > 0;
  for (const MapFormula::Input& input : map.inputs)
    if (input.operand >= 0) add_read(g, {walk(g.shape, operand(input.operand)), &operand(input.operand)});
  for (const Group::Read& read : g.reads)
    if (read.walked.place.slot >= 0) add_slot(g, {read.walked.place.slot, 1}, false);
  for (const int result : map.results) {
    const int slot = operand(result).place.slot;
    g.written += graph.comes_out(slot) || !graph.uses(slot).readers.empty();
  }
  return g;
}

}  // namespace program::detail
NAX_END
