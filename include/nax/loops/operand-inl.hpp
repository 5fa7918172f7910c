#pragma once

#include "nax/loops/operand.hpp"

NAX_BEGIN
namespace loops {

NAX_ENGINE void collapse(Dims& shape, Operand* operands, int count) {
  std::size_t rank = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool merge = rank > 0;
    for (int o = 0; merge && o < count; ++o)
      merge = operands[o].strides[rank - 1] == operands[o].strides[axis] * shape[axis];
    if (merge) {
      shape[rank - 1] *= shape[axis];
      for (int o = 0; o < count; ++o) operands[o].strides[rank - 1] = operands[o].strides[axis];
      continue;
    }
    shape[rank] = shape[axis];
    for (int o = 0; o < count; ++o) operands[o].strides[rank] = operands[o].strides[axis];
    ++rank;
  }
  shape.resize_for_overwrite(rank);
  for (int o = 0; o < count; ++o) operands[o].strides.resize_for_overwrite(rank);
}

}  // namespace loops
NAX_END
