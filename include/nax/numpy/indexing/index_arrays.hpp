#pragma once

#include <optional>

#include "nax/expr/evaluation/device_compute.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/numpy/indexing/slice.hpp"
#include "nax/numpy/views/copy.hpp"

// Index arrays on all devices. What an index of a GPU means depends on its values: where these are checked or
// counted, the host waits for one number.
NAX_BEGIN
namespace detail {

// The number at a place of an array of int64, read from the device.
NAX_ENGINE std::int64_t read_number(const ArrayBase& x, std::int64_t offset);
// The least or the greatest of them.
NAX_ENGINE std::int64_t extreme_number(const ArrayBase& x, loops::ReduceKind kind);

// Indices of any integer type as int64, counted from the front. Throws IndexError, which names the first that
// is out of range, unless the mode brings it into range. `window`: of the mode slide.
NAX_ENGINE Array<std::int64_t> wrapped_index(const char* function, const ArrayBase& index, int axis,
                                             std::int64_t extent, loops::IndexMode mode,
                                             std::int64_t window = 1);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/index_arrays-inl.hpp"
#endif
