#pragma once

#include "nax/backend/cpu/maps/elementwise_pull.hpp"

// Derivatives that are computed along with the values of an expression, while these are reduced: both come
// out of one pass of the backward kernel, which computes the values anyway.
NAX_BEGIN
namespace cpu {

struct PullAlong {
  PullKernel kernel;
  const void* seed;  // the cotangent of every element, as often as a tile has room for it
  // Leaf by leaf: does its gradient lack axes of the loop? Such a gradient is zero before.
  bool summed[max_operands];
  bool any_summed;
};

namespace detail {

// Gives gradients that are sums of many terms wide accumulators, and takes these back in the end. (Those of
// leaves that are one array are the same.)
class WideGradients {
 public:
  NAX_COMPILED_ONCE WideGradients(const PullAlong& along, const Dims& shape, Operand* gradients, int count)
      : gradients_(gradients), count_(count) {
    for (int l = 0; l < count; ++l) narrow_[l] = gradients[l].data;
    std::size_t bytes = 0;
    for (int l = 0; l < count; ++l) {
      sizes_[l] = 0;
      if (!narrow_[l] || !along.summed[l] || first_with(l) != l) continue;
      const Reducer& reducer = *sum_reducer(gradients[l].lane);
      if (!joins_many(reducer, shape, gradients[l].strides)) continue;
      sizes_[l] = 1;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (gradients[l].strides[axis] != 0) sizes_[l] *= shape[axis];
      gradients[l].stored = reducer.wide->to;
      bytes += static_cast<std::size_t>(sizes_[l]) * dtype_size(reducer.wide->to);
    }
    char* at = bytes > 0 ? accumulators_.allocate(bytes) : nullptr;
    for (int l = 0; l < count; ++l) {
      if (!narrow_[l]) continue;
      const int first = first_with(l);
      if (sizes_[first] == 0) continue;
      if (first == l) {
        wide_[l] = at;
        at += static_cast<std::size_t>(sizes_[l]) * dtype_size(gradients[l].stored);
      }
      gradients[l].data = wide_[first];
      gradients[l].stored = gradients[first].stored;
    }
  }
  void finish() {
    for (int l = 0; l < count_; ++l)
      if (sizes_[l] > 0) sum_reducer(gradients_[l].lane)->narrow(wide_[l], narrow_[l], sizes_[l]);
  }

 private:
  int first_with(int l) const {
    int first = 0;
    while (narrow_[first] != narrow_[l]) ++first;
    return first;
  }

  Operand* gradients_;
  int count_;
  char *narrow_[max_operands], *wide_[max_operands];
  std::int64_t sizes_[max_operands];
  Accumulators accumulators_;
};

// The gradients of a loop, chunk by chunk. The operands are theirs, one for each leaf: their data null where
// not wanted, the same where leaves are one array.
class GradientTiles {
 public:
  // The tiles from `first` on are this object's own. Where `along` is null there is nothing to pull.
  GradientTiles(const PullAlong* along, const Dims& shape, const Operand* gradients, int count,
                TileStore& tiles, int first);

  void pull(const void* constants, const void* const* in, const Chunk& chunk, void* values);

  void finish() { sums_.finish(); }

 private:
  const PullAlong* along_;
  int count_;
  void* grads_[max_operands];
  void* tiles_[max_operands];
  int first_[max_operands];
  unsigned added_ = 0;
  TileAccess access_[max_operands];
  GradientSums sums_;
};

}  // namespace detail
}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/reduce/pull_along-inl.hpp"
#endif
