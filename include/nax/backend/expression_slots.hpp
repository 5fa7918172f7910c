#pragma once

#include "nax/core/device.hpp"
#include "nax/loops/operand.hpp"

// Where a program's files meet: what a CUDA file knows about an expression type and a C++ file needs.
//
// Each expression type has a slot, zero until a file compiled as CUDA fills it before main begins. So no
// inline function depends on which compiler saw it, and files may be linked in any order; an expression that
// no CUDA file saw has no kernels, and says so when it meets an array on a GPU.
NAX_BEGIN
namespace cuda {

struct ExpressionKernels {
  // `operands`: `count` leaves, then the result; collapsed over `shape`, none of it empty.
  void (*forward)(Device device, const void* constants, const Dims& shape,
                  const loops::Operand* operands) = nullptr;
  // `operands`: the leaves, the cotangent, then a gradient for each leaf (its data null where not wanted);
  // where bit l of `added` is set the share is added to what is there.
  void (*pull)(Device device, const void* constants, const Dims& shape, const loops::Operand* operands,
               unsigned added) = nullptr;
};

template <class E>
inline constinit ExpressionKernels expression_kernels{};

}  // namespace cuda
NAX_END
