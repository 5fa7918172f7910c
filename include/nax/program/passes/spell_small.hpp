#pragma once

#include <atomic>

#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program::detail {

// False leaves small arrays to the other passes, which their tests need.
inline constinit std::atomic<bool> spells_small{true};

// Makes numbers of small arrays: steps one after the other over arrays of a few elements (maps, products,
// reductions, copies, zeros) become one step, whose formula computes each element by itself. What they hand
// to one another stays in registers.
NAX_ENGINE void spell_small(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/spell_small-inl.hpp"
#endif
