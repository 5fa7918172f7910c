#pragma once

#include "nax/backend/cpu/maps/elementwise.hpp"

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

NAX_ENGINE int axis_across(const Dims& shape, const Operand* leaves, int count, std::int64_t size) {
  const int last = static_cast<int>(shape.size()) - 1;
  if (size < 1 << 14 || last < 1 || shape.back() < 16) return -1;
  for (int l = 0; l < count; ++l) {
    if (!lies_across(leaves[l].strides.back())) continue;
    for (int axis = 0; axis < last; ++axis)
      if (leaves[l].strides[static_cast<std::size_t>(axis)] == 1 &&
          shape[static_cast<std::size_t>(axis)] >= 16)
        return axis;
  }
  return -1;
}

NAX_ENGINE void map_panels(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands,
                           int count, int across, std::int64_t tile_length) {
  // The plane's axes come last; the order of a loop's axes is of no account.
  const std::size_t rank = shape.size(), row_axis = rank - 2, column_axis = rank - 1;
  for (std::size_t axis = static_cast<std::size_t>(across); axis < row_axis; ++axis) {
    std::swap(shape[axis], shape[axis + 1]);
    for (int o = 0; o <= count; ++o) std::swap(operands[o].strides[axis], operands[o].strides[axis + 1]);
  }
  int transposed = 0;
  bool is_transposed[max_operands] = {};
  for (int l = 0; l < count; ++l) {
    is_transposed[l] = operands[l].strides[row_axis] == 1 && lies_across(operands[l].strides[column_axis]);
    transposed += is_transposed[l];
  }
  const auto parts = [](std::int64_t n, std::int64_t most) { return (n + most - 1) / most; };
  const std::int64_t down = parts(shape[row_axis], Panels::rows),
                     wide = parts(shape[column_axis], Panels::columns);
  std::int64_t outer = 1;
  for (std::size_t axis = 0; axis < row_axis; ++axis) outer *= shape[axis];
  constexpr std::int64_t elements = Panels::rows * Panels::columns, most_bytes = 16;
  parallel_for(
      outer * down * wide, parts(parallel_grain, elements), [&](std::int64_t begin, std::int64_t end) {
        const std::unique_ptr<char[]> buffer(
            new char[static_cast<std::size_t>(transposed * elements * most_bytes)]);
        Operand panel[max_operands + 1];
        for (std::int64_t part = begin; part < end; ++part) {
          const std::int64_t column = part % wide * Panels::columns, row = part / wide % down * Panels::rows;
          Dims extents(2, std::min(Panels::rows, shape[row_axis] - row));
          extents[1] = std::min(Panels::columns, shape[column_axis] - column);
          char* to = buffer.get();
          for (int o = 0; o <= count; ++o) {
            const Operand& whole = operands[o];
            const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(whole.stored));
            std::int64_t offset = row * whole.strides[row_axis] + column * whole.strides[column_axis];
            for (std::int64_t axis = static_cast<std::int64_t>(row_axis), rest = part / (wide * down);
                 axis-- > 0;) {
              const std::size_t a = static_cast<std::size_t>(axis);
              offset += rest % shape[a] * whole.strides[a];
              rest /= shape[a];
            }
            panel[o] = {whole.data + offset * bytes, Dims(2, whole.strides[row_axis]), whole.stored,
                        whole.lane};
            panel[o].strides[1] = whole.strides[column_axis];
            if (o == count || !is_transposed[o]) continue;
            copy_loops_of(bytes).transpose(
                {extents[0], extents[1], to, extents[1], 1, panel[o].data, 1, whole.strides[column_axis]},
                false);
            panel[o].data = to;
            panel[o].strides[0] = extents[1];
            panel[o].strides[1] = 1;
            to += elements * bytes;
          }
          map_range(kernel, constants, extents, panel, count, panel[count], tile_length, 0,
                    extents[0] * extents[1]);
        }
      });
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
  if (const int across = detail::axis_across(shape, operands, count, size); across >= 0)
    return detail::map_panels(kernel, constants, shape, operands, count, across, tile_length);
  parallel_for(size, detail::parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    detail::map_range(kernel, constants, shape, operands, count, operands[count], tile_length, begin, end);
  });
}

}  // namespace cpu
NAX_END
