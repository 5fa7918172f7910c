#pragma once

#include <cstring>

#include "nax/backend/cpu/maps/accumulate.hpp"
#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/reduce/chunk_sums.hpp"

// The backward pass of a fused expression: per chunk, one kernel recomputes the values in registers and
// writes each leaf's share; a share whose leaf was broadcast is summed into the leaf's smaller gradient, or
// into wide accumulators of it where there are many shares for each of its elements.
NAX_BEGIN
namespace cpu {

// grads[l][i] = the share of leaf l in the cotangent g[i]; a null grads[l] is not wanted, and where bit l of
// `added` is set the share is added to what is there. Shares are written in the order of the leaves, so that
// leaves that are one array may share one gradient. Kernels with values write those of the
// expression, too; others leave `values` alone.
using PullKernel = void (*)(const void* constants, const void* const* leaves, const void* g,
                            void* const* grads, unsigned added, void* values, std::int64_t n);

// The first leaf whose share goes where that of leaf l goes.
NAX_ENGINE int first_of(void* const* grads, int l);

namespace detail {

// The gradients of a loop that are sums. The operand of one whose accumulators are wide says so: what it
// stores is not of its lane's type.
class GradientSums {
 public:
  void add(int leaf, const Operand& gradient, const Dims& shape) {
    const Reducer& reducer = *sum_reducer(gradient.lane);
    sums_[leaf] = ChunkSums(reducer, reducer.wide && gradient.stored != reducer.to, gradient, shape);
    bytes_ += sums_[leaf].near_bytes();
    leaves_ |= 1u << leaf;
  }
  // When all have been added.
  void begin();
  ChunkSums& operator[](int leaf) { return sums_[leaf]; }
  void finish() {
    if (bytes_ == 0) return;
    for (int l = 0; leaves_ >> l; ++l)
      if (leaves_ >> l & 1) sums_[l].finish();
  }

 private:
  ChunkSums sums_[max_operands];
  Accumulators near_;
  std::size_t bytes_ = 0;
  unsigned leaves_ = 0;
};

// The backward pass of an expression.
struct PullLoop {
  PullKernel kernel;
  const void* constants;
  int count;                       // of leaves
  int first[max_operands] = {};    // the first leaf whose gradient this one's is; -1 where none is wanted
  bool summed[max_operands] = {};  // does the gradient lack axes of the loop?
  bool any_summed = false;
  unsigned added = 0;

  // The part [begin, end) of the loop.
  void run(const Dims& shape, const Operand* operands, std::int64_t begin, std::int64_t end) const;
};

// The loop in parts of its first axis, which threads share out. Where this axis is added up each part has
// sums of its own, and these are added up in order. How many parts there are depends on sizes only: the
// result does not depend on the threads.
NAX_ENGINE void pull_in_parts(const PullLoop& loop, const Dims& shape, const Operand* operands,
                              const std::int64_t* sizes, std::int64_t size);

}  // namespace detail

// `operands`: `count` leaves, the cotangent, then `count` gradients (their data null where not wanted, the
// same where leaves are one array), strides over `shape`. `sizes[l]`: elements of gradient l. Bit l of
// `present`: gradient l holds a sum to which the share is added.
NAX_ENGINE void pull(PullKernel kernel, const void* constants, Dims shape, Operand* operands,
                     const std::int64_t* sizes, unsigned present, int count);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/elementwise_pull-inl.hpp"
#endif
