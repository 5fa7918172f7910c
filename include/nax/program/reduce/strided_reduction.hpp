#pragma once

#include <algorithm>

#include "nax/backend/cpu/maps/elementwise_pull.hpp"
#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/program/reduce/reduced_values.hpp"

NAX_BEGIN
namespace program::detail {

// Of other operands, the loops of the host are run with the formula as their kernel: those of a reduction for
// one result, those of gradients for several of which some are sums.
class StridedReduction final : public Work {
 public:
  explicit StridedReduction(const Step& step)
      : line_(
            step.formula->formula,
            std::vector<std::int64_t>(step.formula->inputs.size() + step.formula->formula.results.size(), 1)),
        shape_(step.operands[0].shape) {
    const DType type = step.formula->formula.type;
    const auto add = [&](int operand) {
      addresses_.push_back(static_cast<std::size_t>(operand));
      operands_.push_back({nullptr, operand_of(step, operand).strides, type, type});
    };
    for (const MapFormula::Input& input : step.formula->inputs) add(input.operand);
    inputs_ = operands_.size();
    for (const int result : written_operands(*step.formula)) {
      add(result);
      std::int64_t n = 1;
      for (std::size_t axis = 0; axis < shape_.size(); ++axis)
        if (operands_.back().strides[axis] != 0) n *= shape_[axis];
      sizes_.push_back(n);
    }
    if (sizes_.size() == 1) reducer_ = &cpu::reducer_for(step.formula->reduced[0].kind, type, type);
  }

  void run(void* const* at) const override {
    loops::Operand own[2 * cpu::max_operands + 1];
    for (std::size_t o = 0; o < inputs_; ++o) own[o] = program::at(operands_[o], at[addresses_[o]]);
    const std::size_t results = sizes_.size();
    if (results == 1) {
      own[inputs_] = program::at(operands_[inputs_], at[addresses_[inputs_]]);
      return cpu::reduce(reduced, this, shape_, own, static_cast<int>(inputs_), sizes_[0], *reducer_);
    }
    // The kernel takes as many leaves as gradients, and a cotangent; missing ones are a number that is not
    // read.
    static char zero[16] = {};
    const std::size_t count = std::max(inputs_, results);
    const loops::Operand none{zero, Dims(shape_.size(), 0), operands_[0].stored, operands_[0].lane};
    for (std::size_t o = inputs_; o <= count; ++o) own[o] = none;
    std::int64_t sizes[cpu::max_operands] = {};
    for (std::size_t k = 0; k < count; ++k) {
      own[count + 1 + k] = {nullptr, none.strides, none.stored, none.lane};
      if (k >= results) continue;
      own[count + 1 + k] = program::at(operands_[inputs_ + k], at[addresses_[inputs_ + k]]);
      sizes[k] = sizes_[k];
    }
    cpu::pull(pulled, this, shape_, own, sizes, 0, static_cast<int>(count));
  }

 private:
  static void reduced(const void* self, const void* const* leaves, void* out, std::int64_t n) {
    static_cast<const StridedReduction*>(self)->line_.run(leaves, &out, n);
  }
  static void pulled(const void* self, const void* const* leaves, const void*, void* const* grads, unsigned,
                     void*, std::int64_t n) {
    static_cast<const StridedReduction*>(self)->line_.run(leaves, grads, n);
  }

  FormulaLine line_;
  Dims shape_;
  std::size_t inputs_ = 0;
  std::vector<std::size_t> addresses_;
  std::vector<loops::Operand> operands_;
  std::vector<std::int64_t> sizes_;
  const cpu::Reducer* reducer_ = nullptr;
};

}  // namespace program::detail
NAX_END
