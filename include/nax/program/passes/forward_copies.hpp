#pragma once

#include "nax/program/record/recording.hpp"

// Lets steps read an array where they read its copy, and drops steps that make nothing but copies. Gradients
// of sums are copies of the cotangent.
NAX_BEGIN
namespace program::detail {

NAX_ENGINE void forward_copies(const std::vector<Slot>& slots, std::vector<Step>& steps,
                               const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/forward_copies-inl.hpp"
#endif
