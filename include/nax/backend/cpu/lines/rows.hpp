#pragma once

#include <cstdint>

#include "nax/backend/cpu/maps/tiles.hpp"

NAX_BEGIN
namespace cpu {

// Walks positions [begin, end) of a loop over `shape` (row-major, not empty) by runs of its last axis:
// f(offsets, n), with the offset, in elements, of each of three operands at the run's first position.
NAX_COMPILED_ONCE void for_each_row(const Dims& shape, const Operand* operands, std::int64_t begin,
                                    std::int64_t end,
                                    FunctionRef<void(const std::int64_t* offsets, std::int64_t n)> f) {
  constexpr int count = 3;
  std::int64_t offsets[count] = {};
  if (shape.empty()) {
    if (begin < end) f(offsets, std::int64_t{1});
    return;
  }
  const std::size_t inner = shape.size() - 1;
  Dims index(shape.size(), 0);
  std::int64_t rest = begin;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
    for (int o = 0; o < count; ++o) offsets[o] += index[axis] * operands[o].strides[axis];
  }
  while (begin < end) {
    const std::int64_t row = shape[inner] - index[inner];
    const std::int64_t n = row < end - begin ? row : end - begin;
    f(offsets, n);
    begin += n;
    index[inner] += n;
    for (int o = 0; o < count; ++o) offsets[o] += n * operands[o].strides[inner];
    for (std::size_t axis = inner; axis > 0 && index[axis] == shape[axis]; --axis) {
      for (int o = 0; o < count; ++o)
        offsets[o] += operands[o].strides[axis - 1] - shape[axis] * operands[o].strides[axis];
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

}  // namespace cpu
NAX_END
