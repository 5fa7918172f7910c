#pragma once

#include "nax/expr/differentiation/recorded_steps.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<ArrayBase> RecordedSteps::values() const {
  std::vector<ArrayBase> values(static_cast<std::size_t>(type_.step_count));
  for (int i = 0; i <= root(); ++i) {
    const Step& step = type_.steps[i];
    if (step.kind == Step::Kind::leaf) values[at(i)] = leaves_[step.slot];
    if (step.kind == Step::Kind::constant) values[at(i)] = constant(step);
    if (step.kind == Step::Kind::operation) values[at(i)] = step.op->value(Operands(step, values).at);
  }
  return values;
}

NAX_ENGINE void RecordedSteps::push_step(const Step& step, const std::vector<ArrayBase>& values,
                                         const ArrayBase& y, const std::vector<ArrayBase>& tangents,
                                         ArrayBase& total) {
  const Operands operands(step, values);
  for (int j = 0; j < step.arity; ++j) {
    const ArrayBase& t = tangents[at(step.operand[j])];
    if (!(step.through >> j & 1) || !ArrayAccess::buffer(t)) continue;
    ArrayBase shares[Step::most_operands];
    if (step.op->push)
      shares[j] = step.op->push(j, t, operands.at, y);
    else
      push_by_vjp(step, j, t, operands, y, shares);
    if (ArrayAccess::buffer(total))
      step.op->add(total, shares[j]);
    else
      total = std::move(shares[j]);
  }
}

NAX_ENGINE void unpack_leaves(const FusedType& type, const PackedArray* packed, LeafArrays& leaves) {
  for (int l = 0; l < type.leaves; ++l) {
    const DType dtype = type.kernels->stored[l];
    leaves[l] = packed[l].buffer() ? packed[l].unpack(dtype) : zeros_over(dtype, packed[l].layout());
  }
}

}  // namespace detail
NAX_END
