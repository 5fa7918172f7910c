#pragma once

#include <cstring>

#include "nax/transform/sharded.hpp"

// May one result stand for all along a mapped axis, as out_axes none says? Where the layout does not tell (a
// stride of 0, shards that are one array) the elements do: what is computed from equal values in the same way
// is equal to the last bit.
NAX_BEGIN
namespace detail {

NAX_ENGINE bool same_elements(const ArrayBase& a, const ArrayBase& b);

// Is the array the same all along this axis, counted from the first hidden one?
NAX_ENGINE bool same_along(const ArrayBase& a, int axis);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/same_along-inl.hpp"
#endif
