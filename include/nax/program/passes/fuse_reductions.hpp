#pragma once

#include "nax/program/replay/map_formula.hpp"

// Fuses reductions with maps: a step that reduces what a map gives computes that map itself, element by
// element while it reduces, and reductions and maps that read the same are one pass over it. Comes after
// fuse_maps.
NAX_BEGIN
namespace program::detail {

// `results`: the slots that come out.
NAX_ENGINE void fuse_reductions(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/fuse_reductions-inl.hpp"
#endif
