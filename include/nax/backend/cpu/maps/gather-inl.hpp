#pragma once

#include "nax/backend/cpu/maps/gather.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE bool are_short_rows(const SelectLoop& loop) {
  if (loop.shape.size() != 2) return false;
  for (int o = 0; o < 2; ++o)
    if (loop.operands[o].strides[1] != 1) return false;
  return loop.operands[2].strides[1] == 0 &&
         loop.shape[1] <= most_of_short_row / static_cast<std::int64_t>(dtype_size(loop.operands[0].stored));
}

NAX_ENGINE void gather_short_rows(const SelectLoop& loop, std::int64_t begin, std::int64_t end) {
  const std::int64_t bytes = loop.shape[1] * static_cast<std::int64_t>(dtype_size(loop.operands[0].stored));
  if (bytes >= 32)
    gather_rows_in_steps<32>(loop, begin, end);
  else if (bytes >= 16)
    gather_rows_in_steps<16>(loop, begin, end);
  else if (bytes >= 8)
    gather_rows_in_steps<8>(loop, begin, end);
  else if (bytes >= 4)
    gather_rows_in_steps<4>(loop, begin, end);
  else
    gather_rows_in_steps<1>(loop, begin, end);
}

NAX_ENGINE SelectRange gatherer(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return gather_range<Unit8>;
    case 2:
      return gather_range<Unit16>;
    case 4:
      return gather_range<Unit32>;
    case 8:
      return gather_range<Unit64>;
    default:
      return gather_range<Unit128>;
  }
}

NAX_ENGINE SelectRange setter(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return scatter_range<SetElement, Unit8, Unit8>;
    case 2:
      return scatter_range<SetElement, Unit16, Unit16>;
    case 4:
      return scatter_range<SetElement, Unit32, Unit32>;
    case 8:
      return scatter_range<SetElement, Unit64, Unit64>;
    default:
      return scatter_range<SetElement, Unit128, Unit128>;
  }
}

NAX_ENGINE std::int64_t loop_size(const SelectLoop& loop) {
  std::int64_t n = 1;
  for (std::int64_t d : loop.shape) n *= d;
  return n;
}

}  // namespace cpu::detail
NAX_END
NAX_BEGIN
namespace cpu {

NAX_ENGINE void gather(SelectLoop loop, std::size_t bytes) {
  const std::int64_t n = detail::loop_size(loop);
  if (n == 0) return;
  loops::collapse(loop.shape, loop.operands, 3);
  constexpr std::int64_t grain = std::int64_t{1} << 14;
  if (detail::are_short_rows(loop)) {
    const std::int64_t length = loop.shape[1];
    return parallel_for(n / length, (grain + length - 1) / length, [&](std::int64_t begin, std::int64_t end) {
      detail::gather_short_rows(loop, begin, end);
    });
  }
  const detail::SelectRange run = detail::gatherer(bytes);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) { run(loop, begin, end); });
}

NAX_ENGINE void scatter(SelectLoop loop, detail::SelectRange run) {
  const std::int64_t n = detail::loop_size(loop);
  if (n == 0) return;
  loops::collapse(loop.shape, loop.operands, 3);
  std::size_t widest = loop.shape.size();
  for (std::size_t axis = 0; axis < loop.shape.size(); ++axis)
    if (loop.data().strides[axis] != 0 &&
        (widest == loop.shape.size() || loop.shape[axis] > loop.shape[widest]))
      widest = axis;
  constexpr std::int64_t grain = std::int64_t{1} << 15;
  if (n <= grain || widest == loop.shape.size() || available_threads() == 1) {
    run(loop, 0, n);
    return;
  }
  const std::int64_t extent = loop.shape[widest], each = n / extent;
  parallel_for(extent, each >= grain ? 1 : grain / each, [&](std::int64_t begin, std::int64_t end) {
    SelectLoop part = loop;
    part.shape[widest] = end - begin;
    for (int o = 0; o < 3; ++o)
      part.operands[o].data += begin * part.operands[o].strides[widest] *
                               static_cast<std::int64_t>(dtype_size(part.operands[o].stored));
    run(part, 0, each * (end - begin));
  });
}

}  // namespace cpu
NAX_END
