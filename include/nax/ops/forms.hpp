#pragma once

#include <cstdint>

#include "nax/ops/arrays.hpp"
#include "nax/ops/attention.hpp"
#include "nax/ops/draws.hpp"
#include "nax/ops/layers.hpp"
#include "nax/ops/lines.hpp"
#include "nax/ops/matrices.hpp"
#include "nax/ops/places.hpp"

// The operations of a device besides expressions. Each has a form: an aggregate of what tells its calls apart
// but for the addresses of operands. A form says
//   describe(Operands&)  which operands it has, in order: dtype, shape, strides; read, written, or optional
//   fields(each)         calls each(...) with what else tells two calls apart
// and, where that is not the default,
//   name()               its name in programs and profiles (the operation's)
//   flops()              (0)
//   may_fail()           whether a call can find its elements wrong (false)
// Recordings, verifiers and profiles read no more than that (table.hpp). Lines are of row-major data.
NAX_BEGIN
namespace ops {

// All of them: X(operation, form).
#define NAX_OPERATIONS(X)             \
  X(copy, Copy)                       \
  X(add, Add)                         \
  X(reduce, Reduce)                   \
  X(matmul, Matmul)                   \
  X(gather, Gather)                   \
  X(scatter, Scatter)                 \
  X(wrap_indices, WrapIndices)        \
  X(join_indices, JoinIndices)        \
  X(index_offsets, IndexOffsets)      \
  X(index_ranks, IndexRanks)          \
  X(keep_ranked, KeepRanked)          \
  X(true_positions, TruePositions)    \
  X(one_hot, OneHot)                  \
  X(arg_reduce, ArgReduce)            \
  X(scan, Scan)                       \
  X(running_best, RunningBest)        \
  X(linear_scan, LinearScan)          \
  X(argsort, Argsort)                 \
  X(sort, Sort)                       \
  X(top_k, TopK)                      \
  X(partition, Partition)             \
  X(argpartition, Argpartition)       \
  X(quantile, Quantile)               \
  X(search, Search)                   \
  X(draw, Draw)                       \
  X(fold_in, FoldIn)                  \
  X(shuffle, Shuffle)                 \
  X(sample, Sample)                   \
  X(fft, Fft)                         \
  X(convolve, Convolve)               \
  X(correlate, Correlate)             \
  X(best_in_windows, BestInWindows)   \
  X(factorise, Factorise)             \
  X(order_of_swaps, OrderOfSwaps)     \
  X(solve, Solve)                     \
  X(sylvester, Sylvester)             \
  X(bincount, Bincount)               \
  X(rows, Rows)                       \
  X(attend, Attend)                   \
  X(attend_gradient, AttendGradient)  \
  X(linear, Linear)                   \
  X(product_and_sums, ProductAndSums) \
  X(step_leaves, StepLeaves)          \
  X(int8_matmul, Int8Matmul)

#define NAX_NAME(name, Form) name,
enum class Op : std::uint8_t { NAX_OPERATIONS(NAX_NAME) };
#undef NAX_NAME

template <class Form>
struct OpOf;
#define NAX_OP_OF(operation, Form)                  \
  template <>                                       \
  struct OpOf<Form> {                               \
    static constexpr Op value = Op::operation;      \
    static constexpr const char* name = #operation; \
  };
NAX_OPERATIONS(NAX_OP_OF)
#undef NAX_OP_OF

}  // namespace ops
NAX_END
