#pragma once

#include "nax/program/record/recording.hpp"

// Pads an array that is a piece of several others, so that these are views of it. Of
//   b, c = map(a)
//   p = zeros(); p[1:] = copy(b)
//   q = zeros(); q[:-1] = copy(c)
//   r = add(p, q)
// where c is b times numbers, there remain
//   b = map(a)
//   d[:1] = copy(0); d[-1:] = copy(0); d[1:-1] = copy(b)
//   q = multiply(d[1:])
//   r = add(d[:-1], q)
// Gradients of stencils are such sums: what was an array of zeros a slice is one map. All maps that read p
// and q read them whole, and d is little larger than they are.
NAX_BEGIN
namespace program::detail {

NAX_ENGINE void pad_pieces(std::vector<Slot>& slots, std::vector<Step>& steps,
                           const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/pad_pieces-inl.hpp"
#endif
