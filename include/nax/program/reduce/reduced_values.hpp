#pragma once

#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/program/replay/formula_line.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

// The largest part of an operand that stays in the first cache while a formula's values are reduced.
inline constexpr std::int64_t reduced_tile_bytes = 8192;

inline const Operand& operand_of(const Step& step, int o) {
  return step.operands[static_cast<std::size_t>(o)];
}
inline std::vector<int> written_operands(const MapFormula& map) {
  std::vector<int> all = map.results;
  for (const MapFormula::Reduced& r : map.reduced) all.push_back(r.operand);
  return all;
}
inline std::vector<const cpu::Reducer*> reducers_of(const MapFormula& map) {
  std::vector<const cpu::Reducer*> all;
  for (const MapFormula::Reduced& r : map.reduced)
    all.push_back(&cpu::reducer_for(r.kind, map.formula.type, map.formula.type));
  return all;
}
inline const cpu::Reducer& wide_or_own(const cpu::Reducer& reducer) {
  return reducer.wide ? *reducer.wide : reducer;
}
// An accumulator of any reducer.
struct Accumulator {
  alignas(16) char bytes[16];
};
// Brings what wide_or_own(reducer) joined to the result.
inline void finish_reduction(const cpu::Reducer& reducer, const void* sums, void* to, std::int64_t n) {
  reducer.fill(to, n);
  (reducer.wide ? reducer.narrow : reducer.merge)(sums, to, n);
}

}  // namespace program::detail
NAX_END
