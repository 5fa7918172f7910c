#pragma once

#include <optional>

#include "nax/expr/evaluation/device_compute.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/numpy/views/copy.hpp"

// Index arrays on a GPU. What an index means depends on its values: where these are checked or counted, the
// host waits for one number.
NAX_BEGIN
namespace detail {

// The number at a place of an array of int64, read from the device.
NAX_ENGINE std::int64_t read_number(const ArrayBase& x, std::int64_t offset);
// The least or the greatest of them.
NAX_ENGINE std::int64_t extreme_number(const ArrayBase& x, loops::ReduceKind kind);

// Indices of any integer type as int64, counted from the front. `bad`: the first that is out of range, if
// any is.
[[gnu::cold]] NAX_ENGINE ArrayBase wrapped_on_device(const ArrayBase& index, std::int64_t extent,
                                                     backend::IndexMode mode,
                                                     std::optional<std::int64_t>& bad);

// Row-major positions of the true elements of a row-major mask.
[[gnu::cold]] NAX_ENGINE ArrayBase true_positions_on_device(const ArrayBase& mask);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/device_indices-inl.hpp"
#endif
