#pragma once

#include "nax/expr/evaluation/packed_leaves.hpp"
#include "nax/program/recording.hpp"

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
// result = the leaves reduced over the marked axes of `frame`, by way of the expression's kernel if there is
// one; `marks` are those axes in which the result has stride 0.
[[gnu::cold]] NAX_ENGINE void record_reduce(const cpu::Reducer& reducer, cpu::ForwardKernel kernel,
                                            const void* constants, int constant_count,
                                            const ArrayBase* const* leaves, const DType* lanes, int count,
                                            const Frame& frame, const Dims& result_strides,
                                            const ArrayBase& result);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/program_steps-inl.hpp"
#endif
