#pragma once

#include "nax/expr/evaluation/packed_leaves.hpp"

// Expressions, their gradients and their tangents as steps of a program that is being recorded. The steps run
// the host's kernels.
NAX_BEGIN
namespace detail {

// result = the expression over `frame`.
[[gnu::cold]] NAX_ENGINE void record_map(const KernelTable& table, const void* constants,
                                         const ArrayBase* const* leaves, const Frame& frame,
                                         const ArrayBase& result);
// As pull_leaves.
[[gnu::cold]] NAX_ENGINE void record_pull(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                                          const void* constants, const PackedArray* leaves,
                                          const ArrayBase& g, Reverse& sweep);
// As push_leaves. `all`: the axes of the result.
[[gnu::cold]] NAX_ENGINE ArrayBase record_push(const KernelTable& table, cpu::PullKernel kernel,
                                               const void* constants, const PackedArray* leaves,
                                               const ArrayBase* const* tangents, const Frame& all);
// result = the expression reduced over the marked axes of `frame`; `result_strides` are 0 in those.
[[gnu::cold]] NAX_ENGINE void record_reduce(const cpu::Reducer& reducer, const KernelTable& table,
                                            const void* constants, const ArrayBase* const* leaves,
                                            const Frame& frame, const Dims& result_strides,
                                            const ArrayBase& result);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/program_steps-inl.hpp"
#endif
