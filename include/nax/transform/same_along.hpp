#pragma once

#include <cstring>

#include "nax/transform/sharded.hpp"

// Decides if one result may stand for all along a mapped axis, as out_axes none claims. A layout with stride
// 0, or shards that are one array, proves it; otherwise the elements are compared bit by bit. Equal operands
// and equal operations give equal bits.
NAX_BEGIN
namespace detail {

NAX_ENGINE bool same_elements(const ArrayBase& a, const ArrayBase& b);

// True if the array is constant along this axis, counted from the first hidden one.
NAX_ENGINE bool same_along(const ArrayBase& a, int axis);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/same_along-inl.hpp"
#endif
