#pragma once

#include "nax/program/record/call_work.hpp"

NAX_BEGIN
namespace program::detail {

// A step that copies an operand to one of the same shape and dtype.
inline Step copy_step(const Operand& from, const Operand& to) {
  Step step;
  step.name = "copy";
  step.operands = {from, to};
  step.work = work_of(ops::Copy{
      to.shape, {nullptr, from.strides, from.dtype, from.dtype}, {nullptr, to.strides, to.dtype, to.dtype}});
  return step;
}

}  // namespace program::detail
NAX_END
