#pragma once

#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace program {

// Whether reductions by a formula have what they need: elements of a type that formulas have, and a kind that
// gives results of that type.
NAX_ENGINE bool reduces_by_formula(loops::ReduceKind kind, DType from, DType to);

// Gives the step, which reduces one result or more, the work of running its formula over the shape of its
// operands, which all have one. Several results that are not all whole arrays or single numbers are sums.
NAX_ENGINE void run_reductions(Step& step);

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/reduce/reduce_formula-inl.hpp"
#endif
