#pragma once

#include <memory>

#include "nax/backend/operations.hpp"
#include "nax/loops/operand.hpp"
#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program::detail {

// A step of a loop's part that copies an operand to one of the same shape and dtype.
inline Step copy_step(const Operand& from, const Operand& to, int part) {
  const auto copy = [shape = to.shape, a = loops::Operand{nullptr, from.strides, from.dtype, from.dtype},
                     b = loops::Operand{nullptr, to.strides, to.dtype, to.dtype}](void* const* p) {
    backend::host_operations().copy({}, shape, at(a, p[0]), at(b, p[1]));
  };
  Step step;
  step.name = "copy";
  step.operands = {from, to};
  step.part = part;
  step.work = std::make_shared<const Closure<decltype(copy)>>(copy);
  return step;
}

}  // namespace program::detail
NAX_END
