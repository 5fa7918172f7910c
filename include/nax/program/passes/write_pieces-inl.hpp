#pragma once

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/pieces.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace program::detail {

// Measured: lines of fewer elements are faster stored and copied by tiles.
inline constexpr std::int64_t least_line = 16;

// True if no step between the writer and `copy` reads or writes `to`.
inline bool is_untouched(const std::vector<Step>& steps, int before, int copy, const Operand& to) {
  const std::optional<Intervals> own = intervals_of(to);
  if (!own) return false;
  for (int j = before; j < copy; ++j)
    for (const Operand& x : steps[static_cast<std::size_t>(j)].operands) {
      if (x.place.slot != to.place.slot) continue;
      const std::optional<Intervals> other = intervals_of(x);
      if (!other || !joined(*own, *other)) return false;
    }
  return true;
}

NAX_ENGINE void write_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                             const std::vector<int>& results) {
  const StepGraph graph(slots, steps, results);
  std::vector<char> gone(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& copy = steps[i];
    if (copy.name != "copy" || copy.operands.size() != 2 || copy.operands[0].dtype != copy.operands[1].dtype)
      continue;
    const Operand &from = copy.operands[0], &to = copy.operands[1];
    if (!graph.connects_two(slots, from.place.slot) || from.place.offset != 0 || to.place.slot < 0) continue;
    const int number = graph.uses(from.place.slot).writers[0];
    Step& map = steps[static_cast<std::size_t>(number)];
    if (!map.formula || !map.formula->reduced.empty()) continue;
    const Dims shape = without_ones(to.shape, to.shape), strides = without_ones(to.shape, to.strides);
    if (shape.empty() || shape.back() < least_line || strides.back() != 1) continue;
    for (const int result : map.formula->results) {
      Operand& x = map.operands[static_cast<std::size_t>(result)];
      if (x.place != from.place || x.dtype != from.dtype || without_ones(x.shape, x.shape) != shape ||
          !is_run(from.strides, from.shape) || !is_untouched(steps, number, static_cast<int>(i), to))
        continue;
      Dims own(x.shape.size(), 0);
      for (std::size_t axis = 0, kept = 0; axis < own.size(); ++axis)
        if (x.shape[axis] != 1) own[axis] = strides[kept++];
      x.strides = own;
      x.place = to.place;
      run_by_formula(map);
      gone[i] = 1;
      break;
    }
  }
  erase_marked(steps, gone);
}

}  // namespace program::detail
NAX_END
