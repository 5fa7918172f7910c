#pragma once

#include "nax/backend/cpu/reduce/reducers.hpp"

NAX_BEGIN
namespace cpu {

// to[i * stride] += from[i]; a stride of 0 adds the sum of the run.
template <class T>
void accumulate_run(const void* from, void* to, std::int64_t stride, std::int64_t n) {
  detail::combine_run<reduce_op::Sum<T>, T>(from, to, stride, n);
}

// For the types in which sums are accumulated; null for half types, which accumulate in float.
NAX_ENGINE const Reducer* sum_reducer(DType lane);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/accumulate-inl.hpp"
#endif
