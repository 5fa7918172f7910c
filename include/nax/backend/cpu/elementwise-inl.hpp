#pragma once

#include "nax/backend/cpu/elementwise.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE Tile* TileStore::of_thread(int count) {
  struct Kept {
    std::unique_ptr<Tile[]> tiles;
    int size = 0;
  };
  Kept& kept = nax::detail::per_thread<Kept>();
  if (kept.size < count) {
    kept.tiles.reset(new Tile[static_cast<std::size_t>(count)]);
    kept.size = count;
  }
  return kept.tiles.get();
}

NAX_ENGINE void map_range(ForwardKernel kernel, const void* constants, const Dims& shape,
                          const Operand* leaves, int count, const Operand& out, std::int64_t tile_length,
                          std::int64_t begin, std::int64_t end) {
  TileStore tiles(count + 1);
  TileAccess access[max_operands + 1];
  for (int l = 0; l < count; ++l) access[l] = TileAccess(leaves[l], shape);
  access[count] = TileAccess(out, shape);
  const void* in[max_operands];
  for (Chunk chunk(shape, begin); chunk.advance(end, tile_length);) {
    for (int l = 0; l < count; ++l) in[l] = access[l].read(chunk, tiles[l]);
    void* to = access[count].target(chunk, tiles[count]);
    kernel(constants, in, to, chunk.length());
    access[count].flush(chunk, to, tiles[count]);
  }
}

NAX_ENGINE void compute_range(ForwardKernel kernel, const void* constants, const Dims& shape,
                              const Operand* leaves, int count, DType result, std::int64_t begin,
                              std::int64_t end, void* to_) {
  std::size_t widest = dtype_size(result);
  for (int l = 0; l < count; ++l) widest = std::max(widest, dtype_size(leaves[l].lane));
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);
  char* to = static_cast<char*>(to_);
  TileStore tiles(count);
  TileAccess access[max_operands];
  for (int l = 0; l < count; ++l) access[l] = TileAccess(leaves[l], shape);
  const void* in[max_operands];
  for (Chunk chunk(shape, begin); chunk.advance(end, tile_length);) {
    for (int l = 0; l < count; ++l) in[l] = access[l].read(chunk, tiles[l]);
    kernel(constants, in, to, chunk.length());
    to += chunk.length() * static_cast<std::int64_t>(dtype_size(result));
  }
}

NAX_ENGINE void map_streaming(ForwardKernel kernel, const void* constants, const Operand* operands, int count,
                              std::int64_t begin, std::int64_t end) {
  const std::int64_t size = static_cast<std::int64_t>(dtype_size(operands[count].stored)),
                     piece = 2048 / size;
  const void* in[max_operands];
  Tile tile;
  for (std::int64_t n; begin < end; begin += n) {
    for (int l = 0; l < count; ++l)
      in[l] = operands[l].data + begin * static_cast<std::int64_t>(dtype_size(operands[l].stored));
    char* const to = operands[count].data + begin * size;
    const std::int64_t head = bytes_to_line(to) / size;
    n = std::min(head > 0 ? head : piece, end - begin);
    if (head > 0 || n * size % line_bytes != 0) {
      kernel(constants, in, to, n);
    } else {
      kernel(constants, in, tile.bytes, n);
      stream_lines(to, tile.bytes, n * size);
    }
  }
  finish_streams();
}

}  // namespace cpu::detail
NAX_END
NAX_BEGIN
namespace cpu {

NAX_ENGINE void map(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands, int count) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  if (size == 0) return;
  loops::collapse(shape, operands, count + 1);

  std::size_t widest = 1;
  bool direct = true;
  for (int o = 0; o <= count; ++o) {
    direct = direct && TileAccess(operands[o], shape).direct();
    const std::size_t bytes = dtype_size(operands[o].lane);
    if (bytes > widest) widest = bytes;
  }
  const Operand& result = operands[count];
  if (direct && can_stream &&
      size * static_cast<std::int64_t>(dtype_size(result.stored)) >= streamed_result_bytes) {
    parallel_for(size, detail::parallel_grain, [&](std::int64_t begin, std::int64_t end) {
      detail::map_streaming(kernel, constants, operands, count, begin, end);
    });
    return;
  }
  if (direct) {  // one call covers a thread's whole share
    parallel_for(size, detail::parallel_grain, [&](std::int64_t begin, std::int64_t end) {
      const void* in[max_operands];
      for (int l = 0; l < count; ++l)
        in[l] = operands[l].data + begin * static_cast<std::int64_t>(dtype_size(operands[l].stored));
      kernel(constants, in,
             operands[count].data + begin * static_cast<std::int64_t>(dtype_size(operands[count].stored)),
             end - begin);
    });
    return;
  }
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);
  parallel_for(size, detail::parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    detail::map_range(kernel, constants, shape, operands, count, operands[count], tile_length, begin, end);
  });
}

}  // namespace cpu
NAX_END
