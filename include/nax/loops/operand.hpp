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
#include "nax/loops/operand-inl.hpp"
#endif
