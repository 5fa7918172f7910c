#pragma once

#include "nax/program/record/recording.hpp"

// Lets maps write into parts of arrays: of
//   t = map(a); r[part] = copy(t)
// there remains r[part] = map(a), where nothing else reads t. So arrays that are joined are never stored
// apart.
NAX_BEGIN
namespace program::detail {

NAX_ENGINE void write_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                             const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/write_pieces-inl.hpp"
#endif
