#pragma once

#include <cstring>

#include "nax/backend/cpu/accumulate.hpp"
#include "nax/backend/cpu/elementwise.hpp"

// The backward pass of a fused expression: per chunk, one kernel recomputes the values in registers and
// writes each leaf's share; a share whose leaf was broadcast is summed into the leaf's smaller gradient.
namespace nax::cpu {

// grads[l][i] = the share of leaf l in the cotangent g[i]; a null grads[l] is not wanted, and where bit l of
// `added` is set the share is added to what is there. Shares are written in the order of the leaves, so that
// leaves that are one array may share one gradient. Kernels with values write those of the
// expression, too; others leave `values` alone.
using PullKernel = void (*)(const void* constants, const void* const* leaves, const void* g,
                            void* const* grads, unsigned added, void* values, std::int64_t n);

// The first leaf whose share goes where that of leaf l goes.
inline int first_of(void* const* grads, int l) {
  int first = 0;
  while (grads[first] != grads[l]) ++first;
  return first;
}

// `operands`: `count` leaves, the cotangent, then `count` gradients (their data null where not wanted, the
// same where leaves are one array), strides over `shape`. `sizes[l]`: elements of gradient l. Bit l of
// `present`: gradient l holds a sum to which the share is added.
inline void pull(PullKernel kernel, const void* constants, Dims shape, Operand* operands,
                 const std::int64_t* sizes, unsigned present, int count) {
  Operand* const gradients = operands + count + 1;
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  void* grads[max_operands];
  for (int l = 0; l < count; ++l) grads[l] = gradients[l].data;
  bool summed[max_operands] = {}, any_summed = false;
  unsigned added = 0;
  for (int l = 0; l < count; ++l) {
    if (!grads[l]) continue;
    const bool again = first_of(grads, l) != l, there = present >> l & 1;
    summed[l] = sizes[l] != size;
    any_summed = any_summed || summed[l];
    if (again || (there && !summed[l])) added |= 1u << l;
    if ((summed[l] || size == 0) && !again && !there)
      std::memset(grads[l], 0, static_cast<std::size_t>(sizes[l]) * dtype_size(gradients[l].lane));
  }
  if (size == 0) return;
  detail::collapse(shape, operands, 2 * count + 1);

  std::size_t widest = 1;
  for (int o = 0; o <= 2 * count; ++o) {
    const std::size_t bytes = dtype_size(operands[o].lane);
    if (bytes > widest) widest = bytes;
  }
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);

  const auto range = [&](std::int64_t begin, std::int64_t end) {
    detail::TileStore tiles(2 * count + 1);
    TileAccess access[max_operands + 1];
    bool direct = !any_summed;
    for (int o = 0; o <= count; ++o) {
      access[o] = TileAccess(operands[o], shape);
      direct = direct && access[o].direct();
    }
    const void* in[max_operands];
    void* out[max_operands];
    for (std::int64_t n; begin < end; begin += n) {
      n = direct ? end - begin : chunk_length(shape, begin, end, tile_length);
      for (int l = 0; l < count; ++l) in[l] = access[l].read(begin, n, tiles[l]);
      const void* g = access[count].read(begin, n, tiles[count]);
      for (int l = 0; l < count; ++l) {
        const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(gradients[l].lane));
        out[l] = !grads[l]   ? nullptr
                 : summed[l] ? tiles[count + 1 + first_of(grads, l)]
                             : gradients[l].data + begin * bytes;
      }
      kernel(constants, in, g, out, added, nullptr, n);
      for (int l = 0; l < count; ++l) {
        if (!grads[l] || !summed[l] || first_of(grads, l) != l) continue;
        const AccumulateFn add = accumulator(gradients[l].lane);
        const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(gradients[l].lane));
        const std::int64_t inner = shape.empty() ? 1 : gradients[l].strides.back();
        detail::for_each_segment(shape, gradients[l].strides, begin, n,
                                 [&](std::int64_t offset, std::int64_t at, std::int64_t length) {
                                   add(static_cast<const char*>(out[l]) + at * bytes,
                                       gradients[l].data + offset * bytes, inner, length);
                                 });
      }
    }
  };
  // Sums into shared memory run in one thread, in a fixed order: the same result every time.
  if (any_summed)
    range(0, size);
  else
    parallel_for(size, detail::parallel_grain, range);
}

}  // namespace nax::cpu
