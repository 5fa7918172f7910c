#pragma once

#include "nax/program/record/recording.hpp"

// Lets products add to arrays: of
//   t = matmul(a, b); d = add(c, t)
// one step stays, d = matmul_add(a, b, c), where nothing else reads t. d lies where c lies if c is read no
// more.
NAX_BEGIN
namespace program::detail {

NAX_ENGINE void accumulate_products(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                    const std::vector<int>& results);

}  // namespace program::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/accumulate_products-inl.hpp"
#endif
