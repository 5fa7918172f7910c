#pragma once

#include <vector>

#include "nax/program/record/recording.hpp"

// Passes over a program's steps. `results`: the slots that come out (or Place::constant), numbered anew where
// a pass joins slots.
NAX_BEGIN
namespace program::detail {

// How many steps write to each slot.
NAX_ENGINE std::vector<int> writers(const std::vector<Slot>& slots, const std::vector<Step>& steps);

// Bytes of the elements that the operand names; one that indices choose from counts as large as the loop.
NAX_ENGINE double bytes_of(const Operand& x);
// Runs the steps that compute constants of constants alone, and holds the results that other steps read.
// Small arrays become constants, and those that are no larger than what their steps read.
NAX_ENGINE void find_constants(std::vector<Slot>& slots, std::vector<Step>& steps,
                               const std::vector<int>& results,
                               std::vector<std::shared_ptr<const char[]>>& held);
// Of steps that compute the same one stays.
NAX_ENGINE void join_equal_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                 std::vector<int>& results);
// Drops what no result needs.
NAX_ENGINE void drop_dead_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results);
// Can the step write `to` where its operand `from` lies, element by element?
inline bool overlays(const Step& step, const Operand& from, const Operand& to) {
  return step.in_place && !from.across && !from.written && to.written && from.dtype == to.dtype &&
         from.place.offset == 0 && to.place.offset == 0 && from.strides == to.strides;
}
// For each result, the argument in whose memory it may be written, or -1. Where a step may throw Unforeseen
// there is none, since the function is called with the arguments then.
NAX_ENGINE std::vector<int> find_donations(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<int>& results, std::size_t result_count);
// Offsets of temporary slots in one block of memory, where those share room that do not live at the same
// time; the bytes of the block.
NAX_ENGINE std::size_t plan_memory(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                                   std::vector<std::int64_t>& offsets);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/passes-inl.hpp"
#endif
