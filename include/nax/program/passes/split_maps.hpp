#pragma once

#include "nax/program/replay/program.hpp"

// Splits maps of joined arrays. Of
//   r[0:4] = copy(x); r[4:8] = copy(y); t = map(r); u = other(t[0:4])
// there remain t0 = map(x); u = other(t0), and t1 = map(y) where something reads it. Parts are boxes of r
// that no later copy touches, so a padded array has one: what it was before. A map is split only if each of
// its results is read part by part, or by maps that are split, too. Outputs that are views of one part become
// outputs of that part's own array.
NAX_BEGIN
namespace program::detail {

// `results`: the outputs' slots, as in other passes. Steps that write what nothing reads may remain.
NAX_ENGINE void split_maps(std::vector<Slot>& slots, std::vector<Step>& steps, std::vector<int>& results,
                           std::vector<Output>& outputs);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/split_maps-inl.hpp"
#endif
