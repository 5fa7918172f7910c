#pragma once

#include "nax/program/record/recording.hpp"

// Joins arrays of pieces: arrays that are zero but for parts that copies write. Cotangents of slices are such
// arrays. Of
//   p = zeros(); p[part] = add(p[part], x)
//   q = zeros(); q[other part] = add(q[other part], y)
//   r = add(p, q)
// there remain, where the parts do not overlap and nothing else reads p and q,
//   r = zeros(); r[part] = copy(x); r[other part] = copy(y)
// and no zeros where the parts cover r.
NAX_BEGIN
namespace program::detail {

NAX_ENGINE void join_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/join_pieces-inl.hpp"
#endif
