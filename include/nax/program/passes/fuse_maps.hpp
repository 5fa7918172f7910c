#pragma once

#include "nax/program/replay/map_formula.hpp"

// Fuses maps: steps that are computed element by element over the same elements become one step, whose
// formula computes each element of all results in one pass. What no other step needs is not stored.
NAX_BEGIN
namespace program::detail {

// `results`: the slots that come out.
NAX_ENGINE void fuse_maps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                          const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/fuse_maps-inl.hpp"
#endif
