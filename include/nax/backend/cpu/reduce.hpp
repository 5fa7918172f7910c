#pragma once

#include "nax/backend/cpu/elementwise.hpp"

// Reductions over any axes, of an array or of a fused expression: chunks of the loop are computed into tiles (see
// tiles.hpp) and combined into the result, whose strides are 0 on the axes that go.
namespace nax::cpu {

// to[i * stride] = to[i * stride] (op) from[i]; a stride of 0 combines the whole run into one.
using CombineFn = void (*)(const void* from, void* to, std::int64_t stride, std::int64_t n);

// `operands`: `count` leaves, then the result, which holds the operation's identity; its memory is of its lane type.
// A null kernel means: the one leaf itself.
inline void reduce(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands, int count,
                   CombineFn combine) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  if (size == 0) return;
  detail::collapse(shape, operands, count + 1);
  const Operand& out = operands[count];
  std::size_t widest = 1;
  for (int o = 0; o <= count; ++o) {
    const std::size_t bytes = dtype_size(operands[o].lane);
    if (bytes > widest) widest = bytes;
  }
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);
  const std::int64_t lane_bytes = static_cast<std::int64_t>(dtype_size(out.lane));
  const std::int64_t inner = shape.empty() ? 1 : out.strides.back();

  const auto range = [&](std::int64_t begin, std::int64_t end) {
    detail::TileStore tiles(count + 1);
    TileAccess access[max_operands];
    const void* in[max_operands];
    for (int l = 0; l < count; ++l) access[l] = TileAccess(operands[l], shape);
    for (std::int64_t n; begin < end; begin += n) {
      n = chunk_length(shape, begin, end, tile_length);
      for (int l = 0; l < count; ++l) in[l] = access[l].read(begin, n, tiles[l]);
      const void* values = in[0];
      if (kernel) {
        kernel(constants, in, tiles[count], n);
        values = tiles[count];
      }
      detail::for_each_segment(shape, out.strides, begin, n,
                               [&](std::int64_t offset, std::int64_t at, std::int64_t length) {
                                 combine(static_cast<const char*>(values) + at * lane_bytes,
                                         out.data + offset * lane_bytes, inner, length);
                               });
    }
  };
  // Threads share out a kept leading axis, so that each result is combined by one thread in a fixed order.
  if (!shape.empty() && shape[0] > 1 && out.strides[0] != 0) {
    const std::int64_t row = size / shape[0];
    const std::int64_t grain = (detail::parallel_grain + row - 1) / row;
    parallel_for(shape[0], grain, [&](std::int64_t begin, std::int64_t end) { range(begin * row, end * row); });
  } else {
    range(0, size);
  }
}

}  // namespace nax::cpu
