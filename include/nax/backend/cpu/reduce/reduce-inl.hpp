#pragma once

#include "nax/backend/cpu/reduce/reduce.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE void order_axes(Dims& shape, Operand* operands, int count, int total) {
  const auto weight = [&](std::size_t axis) {
    std::int64_t sum = 0;
    for (int l = 0; l < count; ++l) {
      const std::int64_t s = operands[l].strides[axis];
      sum += s < 0 ? -s : s;
    }
    return sum;
  };
  for (std::size_t i = 1; i < shape.size(); ++i)
    for (std::size_t j = i; j > 0 && weight(j - 1) < weight(j); --j) {
      std::swap(shape[j - 1], shape[j]);
      for (int o = 0; o < total; ++o) std::swap(operands[o].strides[j - 1], operands[o].strides[j]);
    }
}

NAX_ENGINE void reduce_plain(const Dims& shape, const Operand* operands, const Reducer& reducer) {
  const Operand &in = operands[0], &out = operands[1];
  const std::int64_t from_bytes = static_cast<std::int64_t>(dtype_size(in.stored));
  const std::int64_t to_bytes = static_cast<std::int64_t>(dtype_size(out.stored));
  if (shape.empty()) {
    reducer.combine(in.data, out.data, 0, 1);
    return;
  }
  std::size_t outer = shape.size() - 1;
  const std::int64_t n = shape[outer], stride = out.strides[outer];
  // Rows that all go to the same place are taken together.
  const bool rows = takes_rows(shape, out.strides);
  // And short runs that each go to a place of their own, one after the other.
  const bool short_runs = stride == 0 && outer > 0 && takes_short_runs(reducer, n, out.strides[outer - 1]);
  if (rows || short_runs) --outer;
  Dims index(outer, 0);
  for (std::int64_t f = 0, t = 0;;) {
    if (rows)
      reducer.rows(in.data + f * from_bytes, in.strides[outer], shape[outer], out.data + t * to_bytes, n);
    else if (short_runs)
      reducer.short_runs(in.data + f * from_bytes, in.strides[outer], shape[outer], n,
                         out.data + t * to_bytes, out.strides[outer]);
    else
      reducer.combine(in.data + f * from_bytes, out.data + t * to_bytes, stride, n);
    std::size_t axis = outer;
    for (; axis > 0; --axis) {
      f += in.strides[axis - 1];
      t += out.strides[axis - 1];
      if (++index[axis - 1] < shape[axis - 1]) break;
      f -= shape[axis - 1] * in.strides[axis - 1];
      t -= shape[axis - 1] * out.strides[axis - 1];
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

NAX_ENGINE void reduce_tiles(ForwardKernel kernel, const void* constants, const Dims& shape,
                             const Operand* operands, int count, const Reducer& reducer, bool wide,
                             const PullAlong* along) {
  std::size_t widest = dtype_size(reducer.from);
  for (int l = 0; l < count; ++l) widest = std::max(widest, dtype_size(operands[l].lane));
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;

  TileStore tiles(along ? 2 * count + 1 : count + 1);
  TileAccess access[max_operands];
  const void* in[max_operands];
  for (int l = 0; l < count; ++l) access[l] = TileAccess(operands[l], shape);
  GradientTiles gradients(along, shape, operands + count + 1, count, tiles, count + 1);
  ChunkSums sums(reducer, wide, operands[count], shape);
  Accumulators nearby;
  if (const std::size_t bytes = sums.near_bytes()) sums.use(nearby.allocate(bytes));
  // One truth value that nothing changes any more ends the loop.
  bool one_truth =
      !along && (reducer.kind == loops::ReduceKind::any || reducer.kind == loops::ReduceKind::all);
  for (const std::int64_t stride : operands[count].strides) one_truth = one_truth && stride == 0;
  const bool decided = reducer.kind == loops::ReduceKind::any;
  for (Chunk chunk(shape, 0); chunk.advance(size, tile_length);) {
    for (int l = 0; l < count; ++l) in[l] = access[l].read(chunk, tiles[l]);
    const void* values = in[0];
    if (along || kernel) values = tiles[count];
    if (along)
      gradients.pull(constants, in, chunk, tiles[count]);
    else if (kernel)
      kernel(constants, in, tiles[count], chunk.length());
    sums.add(chunk, values);
    if (one_truth && *reinterpret_cast<const bool*>(operands[count].data) == decided) break;
  }
  sums.finish();
  gradients.finish();
}

// Copies the leaves whose elements of a row lie a cache line or more apart.
NAX_ENGINE void straighten(const Dims& shape, Operand* leaves, int count,
                           std::vector<std::unique_ptr<char[]>>& copies) {
  const std::size_t rank = shape.size();
  for (int l = 0; l < count; ++l) {
    Operand& leaf = leaves[l];
    if (!lies_across(leaf.strides.back())) continue;
    Dims extents, from, to(rank, 0), steps;
    std::int64_t size = 1;
    for (std::size_t axis = rank; axis-- > 0;)
      if (leaf.strides[axis] != 0) to[axis] = size, size *= shape[axis];
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (leaf.strides[axis] != 0)
        extents.push_back(shape[axis]), from.push_back(leaf.strides[axis]), steps.push_back(to[axis]);
    const std::size_t bytes = dtype_size(leaf.stored);
    copies.emplace_back(new char[static_cast<std::size_t>(size) * bytes]);
    strided_copy(bytes, static_cast<int>(extents.size()), extents.data(), copies.back().get(), steps.data(),
                 leaf.data, from.data());
    leaf.data = copies.back().get();
    leaf.strides = to;
  }
}

NAX_ENGINE void cut(Dims& shape, Operand* operands, int total, std::size_t axis, std::int64_t begin,
                    std::int64_t end) {
  shape[axis] = end - begin;
  for (int o = 0; o < total; ++o)
    operands[o].data +=
        begin * operands[o].strides[axis] * static_cast<std::int64_t>(dtype_size(operands[o].stored));
}

}  // namespace cpu::detail
NAX_END
NAX_BEGIN
namespace cpu {

NAX_ENGINE void reduce(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands, int count,
                       std::int64_t result_size, const Reducer& reducer, const PullAlong* along) {
  const int total = along ? 2 * count + 1 : count + 1;
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  Operand& result = operands[count];
  reducer.fill(result.data, result_size);
  if (size == 0) return;
  detail::order_axes(shape, operands, count, total);
  loops::collapse(shape, operands, total);
  std::vector<std::unique_ptr<char[]>> copies;
  if (kernel && !along && detail::axis_across(shape, operands, count, size) >= 0)
    detail::straighten(shape, operands, count, copies);

  const bool in_rows = !kernel && !along && reducer.from == reducer.to && dtype_size(reducer.to) <= 4 &&
                       detail::takes_rows(shape, result.strides);
  const bool wide = detail::joins_many(reducer, shape, result.strides, in_rows ? 8 : 1);
  if (wide || (along && along->any_summed)) [[unlikely]]
    detail::reduce_wide(kernel, constants, shape, operands, count, result_size, reducer, wide, along);
  else
    detail::reduce_shared(kernel, constants, shape, operands, count, result_size, reducer, false, along);
}

}  // namespace cpu
NAX_END
