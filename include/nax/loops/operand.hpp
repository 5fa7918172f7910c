#pragma once

#include "nax/core/compiled_once.hpp"
#include "nax/core/dtype.hpp"
#include "nax/core/layout.hpp"

// Operands of a loop over a (broadcast) shape.
NAX_BEGIN
namespace loops {

inline constexpr int max_operands = 32;

// `stored` elements at `data` with these strides (in elements) over the loop's axes, `lane` in the kernel.
struct Operand {
  char* data = nullptr;
  Dims strides;
  DType stored = DType::float32;
  DType lane = DType::float32;
};

// Drops axes of extent 1 and merges neighbours that every operand walks as one.
NAX_ENGINE void collapse(Dims& shape, Operand* operands, int count);

}  // namespace loops
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
