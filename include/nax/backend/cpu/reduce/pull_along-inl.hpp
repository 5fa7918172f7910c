#pragma once

#include "nax/backend/cpu/reduce/pull_along.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE GradientTiles::GradientTiles(const PullAlong* along, const Dims& shape, const Operand* gradients,
                                        int count, TileStore& tiles, int first)
    : along_(along), count_(along ? count : 0) {
  for (int l = 0; l < count_; ++l) grads_[l] = gradients[l].data;
  for (int l = 0; l < count_; ++l) {
    if (!grads_[l]) continue;
    first_[l] = first_of(grads_, l);
    tiles_[l] = tiles[first + l];
    if (first_[l] != l)
      added_ |= 1u << l;
    else if (along->summed[l])
      sums_.add(l, gradients[l], shape);
    else
      access_[l] = TileAccess(gradients[l], shape);
  }
  sums_.begin();
}

NAX_ENGINE void GradientTiles::pull(const void* constants, const void* const* in, const Chunk& chunk,
                                    void* values) {
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
      sums_[l].add(chunk, out[l]);
    else
      access_[l].flush(chunk, out[l], tiles_[l]);
  }
}

}  // namespace cpu::detail
NAX_END
