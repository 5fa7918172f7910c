#pragma once

#include <optional>

#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/expr/evaluation/device_compute.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/numpy/indexing/slice.hpp"
#include "nax/numpy/views/copy.hpp"

// Index arrays on all devices. Where numbers on a GPU are counted the host waits for one number; where they
// are checked it does not (checks_later).
NAX_BEGIN
namespace detail {

// The number at a place of an array of int64, read from the device.
NAX_ENGINE std::int64_t read_number(const ArrayBase& x, std::int64_t offset);
template <class T>
void provide_extremes() {
  cpu::provide_reducer<cpu::reduce_op::Max<T>, T>();
  cpu::provide_reducer<cpu::reduce_op::Min<T>, T>();
}
// The least or the greatest of integers of any type, whose reducers the caller provides.
NAX_ENGINE std::int64_t extreme_number(const ArrayBase& x, loops::ReduceKind kind);
// Calls refuse with the first of these integers outside [0, extent), where there is one. While a GPU records,
// they are not known, and pass. The caller provides the reducers.
NAX_ENGINE void check_integers(const char* function, const ArrayBase& x, std::int64_t extent,
                               FunctionRef<void(std::int64_t)> refuse);

// Indices of any integer type as int64, counted from the front. Throws IndexError, which names the first that
// is out of range, unless the mode brings it into range: for an array on a GPU the next wait throws.
// `window`: of the mode slide; `function`: a literal.
NAX_ENGINE Array<std::int64_t> wrapped_index(const char* function, const ArrayBase& index, int axis,
                                             std::int64_t extent, loops::IndexMode mode,
                                             std::int64_t window = 1);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/index_arrays-inl.hpp"
#endif
