#pragma once

#include <algorithm>
#include <numeric>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/copy_step.hpp"
#include "nax/program/replay/walks.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/program/replay/map_formula.hpp"
#endif

NAX_BEGIN
namespace program::detail {

// An operand that is a copy of another.
struct CopiedOperand {
  int from, to;
};
// The copies that a step makes, where it makes nothing else.
inline std::vector<CopiedOperand> copies_of(const Step& s) {
  if (s.checks || s.unforeseen) return {};
  if (s.name == "copy" && s.operands.size() == 2) return {{0, 1}};
  std::vector<CopiedOperand> all;
#if defined(NAX_USES_FORMULAS)
  if (!s.formula || !s.formula->reduced.empty()) return {};
  const MapFormula& map = *s.formula;
  for (std::size_t k = 0; k < map.results.size(); ++k) {
    const formula::Step& last = map.formula.steps[static_cast<std::size_t>(map.formula.results[k])];
    if (last.operation != formula::Operation::input) return {};
    const int from = map.inputs[last.detail].operand;
    if (from < 0) return {};
    all.push_back({from, map.results[k]});
  }
#endif
  return all;
}

NAX_ENGINE std::vector<int> forward_copies(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                           const std::vector<int>& results) {
  const StepGraph graph(slots, steps, results);
  std::vector<int> renamed(slots.size());
  std::iota(renamed.begin(), renamed.end(), 0);
  int i = -1;
  std::erase_if(steps, [&](Step& s) {
    ++i;
    const std::vector<CopiedOperand> copies = copies_of(s);
    const bool forwards = std::all_of(copies.begin(), copies.end(), [&](const CopiedOperand& c) {
      const Operand &from = s.operands[static_cast<std::size_t>(c.from)],
                    &to = s.operands[static_cast<std::size_t>(c.to)];
      if (to.place.slot < 0 || from.dtype != to.dtype) return false;
      const Slot& slot = slots[static_cast<std::size_t>(to.place.slot)];
      const SlotUses& uses = graph.uses(to.place.slot);
      if (slot.kind != Slot::Kind::temporary || graph.comes_out(to.place.slot) || uses.writers.size() != 1)
        return false;
      if (!is_all(from, slot.bytes) || !is_all(to, slot.bytes)) return false;
      const std::vector<int>& writers = graph.uses(from.place.slot).writers;
      return writers.empty() || writers.back() < i;
    });
    if (copies.empty() || !forwards) {
      for (Operand& x : s.operands)
        if (x.place.slot >= 0) x.place.slot = renamed[static_cast<std::size_t>(x.place.slot)];
      return false;
    }
    for (const CopiedOperand& c : copies)
      renamed[static_cast<std::size_t>(s.operands[static_cast<std::size_t>(c.to)].place.slot)] =
          renamed[static_cast<std::size_t>(s.operands[static_cast<std::size_t>(c.from)].place.slot)];
    return true;
  });
  return renamed;
}

NAX_ENGINE void drop_barriers(const std::vector<Slot>& slots, std::vector<Step>& steps,
                              const std::vector<int>& results) {
  bool found = false;
  for (Step& step : steps)
    if (step.name == barrier) step = copy_step(step.operands[0], step.operands[1]), found = true;
  if (found) forward_copies(slots, steps, results);
}

}  // namespace program::detail
NAX_END
