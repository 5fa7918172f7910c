#pragma once

#include "nax/backend/cpu/elementwise_pull.hpp"

// Derivatives that are computed along with the values of an expression, while these are reduced: both come
// out of one pass of the backward kernel, which computes the values anyway.
namespace nax::inline NAX_ABI::cpu {

struct PullAlong {
  PullKernel kernel;
  const void* seed;  // the cotangent of every element, as often as a tile has room for it
  // Leaf by leaf: does its gradient lack axes of the loop? Such a gradient is zero before.
  bool summed[max_operands];
  bool any_summed;
};

namespace detail {

// The gradients of a loop, chunk by chunk. The operands are theirs, one for each leaf: their data null where
// not wanted, the same where leaves are one array.
class GradientTiles {
 public:
  // The tiles from `first` on are this object's own. Where `along` is null there is nothing to pull.
  GradientTiles(const PullAlong* along, const Dims& shape, const Operand* gradients, int count,
                TileStore& tiles, int first)
      : along_(along), shape_(shape), gradients_(gradients), count_(along ? count : 0) {
    for (int l = 0; l < count_; ++l) grads_[l] = gradients[l].data;
    for (int l = 0; l < count_; ++l) {
      if (!grads_[l]) continue;
      first_[l] = first_of(grads_, l);
      tiles_[l] = tiles[first + l];
      if (first_[l] != l)
        added_ |= 1u << l;
      else if (!along->summed[l])
        access_[l] = TileAccess(gradients[l], shape);
    }
  }

  void pull(const void* constants, const void* const* in, const Chunk& chunk, void* values) {
    void* out[max_operands];
    for (int l = 0; l < count_; ++l)
      out[l] = !grads_[l]          ? nullptr
               : first_[l] != l    ? out[first_[l]]
               : along_->summed[l] ? tiles_[l]
                                   : access_[l].target(chunk, tiles_[l]);
    along_->kernel(constants, in, along_->seed, out, added_, values, chunk.length());
    for (int l = 0; l < count_; ++l) {
      if (!grads_[l] || first_[l] != l) continue;
      if (along_->summed[l])
        add_up(gradients_[l], shape_, out[l], chunk);
      else
        access_[l].flush(chunk, out[l], tiles_[l]);
    }
  }

 private:
  const PullAlong* along_;
  const Dims& shape_;
  const Operand* gradients_;
  int count_;
  void* grads_[max_operands];
  void* tiles_[max_operands];
  int first_[max_operands];
  unsigned added_ = 0;
  TileAccess access_[max_operands];
};

}  // namespace detail
}  // namespace nax::inline NAX_ABI::cpu
