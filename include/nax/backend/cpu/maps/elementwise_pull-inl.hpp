#pragma once

#include "nax/backend/cpu/maps/elementwise_pull.hpp"

NAX_BEGIN
namespace cpu {

NAX_ENGINE int first_of(void* const* grads, int l) {
  int first = 0;
  while (grads[first] != grads[l]) ++first;
  return first;
}

}  // namespace cpu
NAX_END
NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE void GradientSums::begin() {
  if (bytes_ == 0) return;
  char* at = near_.allocate(bytes_);
  for (int l = 0; leaves_ >> l; ++l)
    if (leaves_ >> l & 1) {
      sums_[l].use(at);
      at += sums_[l].near_bytes();
    }
}

NAX_ENGINE void PullLoop::run(const Dims& shape, const Operand* operands, std::int64_t begin,
                              std::int64_t end) const {
  const Operand* const gradients = operands + count + 1;
  std::size_t widest = 1;
  for (int o = 0; o <= 2 * count; ++o) widest = std::max(widest, dtype_size(operands[o].lane));
  const std::int64_t tile_length = tile_bytes / static_cast<std::int64_t>(widest);
  TileStore tiles(2 * count + 1);
  TileAccess access[max_operands + 1];
  bool direct = !any_summed;
  for (int o = 0; o <= count; ++o) {
    access[o] = TileAccess(operands[o], shape);
    direct = direct && access[o].direct();
  }
  GradientSums sums;
  for (int l = 0; l < count; ++l)
    if (first[l] == l && summed[l]) sums.add(l, gradients[l], shape);
  sums.begin();
  const void* in[max_operands];
  void* out[max_operands];
  for (Chunk chunk(shape, begin); chunk.advance(end, direct ? end - begin : tile_length);) {
    for (int l = 0; l < count; ++l) in[l] = access[l].read(chunk, tiles[l]);
    const void* g = access[count].read(chunk, tiles[count]);
    for (int l = 0; l < count; ++l)
      out[l] = first[l] < 0 ? nullptr
               : summed[l]  ? tiles[count + 1 + first[l]]
                            : gradients[l].data +
                                 chunk.begin() * static_cast<std::int64_t>(dtype_size(gradients[l].lane));
    kernel(constants, in, g, out, added, nullptr, chunk.length());
    for (int l = 0; l < count; ++l)
      if (first[l] == l && summed[l]) sums[l].add(chunk, out[l]);
  }
  sums.finish();
}

NAX_ENGINE void pull_in_parts(const PullLoop& loop, const Dims& shape, const Operand* operands,
                              const std::int64_t* sizes, std::int64_t size) {
  constexpr std::int64_t most_parts = 16;
  const std::int64_t parts = std::min(size / parallel_grain, most_parts);
  const int count = loop.count;
  const Operand* const gradients = operands + count + 1;
  std::int64_t begins[max_operands], bytes = 0, elements = 0;  // of a part's own sums
  for (int l = 0; l < count; ++l) {
    begins[l] = -1;
    if (parts < 2 || loop.first[l] != l || !loop.summed[l] || gradients[l].strides[0] != 0) continue;
    begins[l] = bytes;
    bytes += (sizes[l] * static_cast<std::int64_t>(dtype_size(gradients[l].stored)) + 63) / 64 * 64;
    elements += sizes[l];
  }
  if (parts < 2 || shape[0] < parts || 4 * parts * elements > size) return loop.run(shape, operands, 0, size);

  const auto sums = std::make_unique<char[]>(static_cast<std::size_t>(parts * bytes));
  parallel_for(parts, 1, [&](std::int64_t part, std::int64_t end) {
    for (; part < end; ++part) {
      Operand own[max_operands];
      std::copy_n(operands, 2 * count + 1, own);
      for (int l = 0; l < count; ++l)
        if (begins[l] >= 0) own[count + 1 + l].data = sums.get() + part * bytes + begins[l];
      const std::int64_t line = size / shape[0];
      loop.run(shape, own, shape[0] * part / parts * line, shape[0] * (part + 1) / parts * line);
    }
  });
  for (int l = 0; l < count; ++l) {
    if (begins[l] < 0) continue;
    const Reducer& narrow = *sum_reducer(gradients[l].lane);
    const Reducer& into = gradients[l].stored == narrow.to ? narrow : *narrow.wide;
    for (std::int64_t part = 0; part < parts; ++part)
      into.merge(sums.get() + part * bytes + begins[l], gradients[l].data, sizes[l]);
  }
}

}  // namespace cpu::detail
NAX_END
NAX_BEGIN
namespace cpu {

NAX_ENGINE void pull(PullKernel kernel, const void* constants, Dims shape, Operand* operands,
                     const std::int64_t* sizes, unsigned present, int count) {
  Operand* const gradients = operands + count + 1;
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  void* grads[max_operands];
  for (int l = 0; l < count; ++l) grads[l] = gradients[l].data;
  detail::PullLoop loop{kernel, constants, count};
  for (int l = 0; l < count; ++l) {
    loop.first[l] = -1;
    loop.summed[l] = grads[l] && sizes[l] != size;
    if (!grads[l]) continue;
    loop.first[l] = first_of(grads, l);
    loop.any_summed = loop.any_summed || loop.summed[l];
    const bool again = loop.first[l] != l, there = present >> l & 1;
    if (again || (there && !loop.summed[l])) loop.added |= 1u << l;
    if ((loop.summed[l] || size == 0) && !again && !there)
      std::memset(grads[l], 0, static_cast<std::size_t>(sizes[l]) * dtype_size(gradients[l].lane));
  }
  if (size == 0) return;
  loops::collapse(shape, operands, 2 * count + 1);
  if (!loop.any_summed)
    return parallel_for(size, detail::parallel_grain,
                        [&](std::int64_t begin, std::int64_t end) { loop.run(shape, operands, begin, end); });

  detail::Accumulators accumulators;
  std::size_t bytes = 0;
  unsigned wide = 0;
  for (int l = 0; l < count; ++l) {
    if (loop.first[l] != l || !loop.summed[l]) continue;
    const Reducer& reducer = *sum_reducer(gradients[l].lane);
    if (!detail::joins_many(reducer, shape, gradients[l].strides)) continue;
    wide |= 1u << l;
    gradients[l].stored = reducer.wide->to;
    bytes += static_cast<std::size_t>(sizes[l]) * dtype_size(gradients[l].stored);
  }
  char* at = wide ? accumulators.allocate(bytes) : nullptr;
  for (int l = 0; wide >> l; ++l)
    if (wide >> l & 1) {
      gradients[l].data = at;
      at += static_cast<std::size_t>(sizes[l]) * dtype_size(gradients[l].stored);
    }
  detail::pull_in_parts(loop, shape, operands, sizes, size);
  for (int l = 0; wide >> l; ++l)
    if (wide >> l & 1) sum_reducer(gradients[l].lane)->narrow(gradients[l].data, grads[l], sizes[l]);
}

}  // namespace cpu
NAX_END
