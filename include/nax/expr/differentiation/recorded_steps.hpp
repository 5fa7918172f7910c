#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/expr/differentiation/recorded_op.hpp"
#include "nax/expr/evaluation/packed_leaves.hpp"

// An expression's operations, one at a time, on arrays that may be recorded: what a watched sweep runs in
// place of a fused kernel. One class serves all expressions: what it must know of the type is data.
NAX_BEGIN
namespace detail {

struct FormulaVariant;  // in formula_kernels.hpp

// The facts about an expression type that the tape needs.
struct FusedType {
  const char* name;  // of the root's rule
  const KernelTable* kernels;
  cpu::PullKernel pull;
  const Step* steps;
  int step_count, constants, leaves;
  unsigned reads;               // bit l: does a derivative read the value of leaf l?
  unsigned carries;             // bit l: does a gradient flow into leaf l?
  cpu::PullKernel scalar_pull;  // of numbers; none where they cannot be kept and handed on as such
  bool is_sum;                  // of two arrays: the cotangent itself is both shares
  bool same_at_value;           // of one array: its derivative is that at the result
  bool holomorphic;             // a tangent in the cotangent's place gives the result's
  ArrayBase (*spread)(const ArrayBase&, const Frame&);
  mutable std::atomic<const FormulaVariant*> derivatives{nullptr};  // their formulas

  const Step& root() const { return steps[step_count - 1]; }
};

class RecordedSteps {
 public:
  // Leaves and constants, as many as the type has, stay where they are.
  RecordedSteps(const FusedType& type, const LeafArrays& leaves, const void* constants)
      : type_(type), leaves_(leaves), constants_(constants) {}

  // Runs back from the root's cotangent: give(leaf, share) for each share of a leaf, over the axes that the
  // operations have.
  NAX_COMPILED_ONCE void pull(const ArrayBase& g,
                              FunctionRef<void(const Step&, const ArrayBase&)> give) const {
    const std::vector<ArrayBase> values = this->values();
    std::vector<ArrayBase> cotangents(values.size());
    cotangents.back() = g;
    for (int i = root(); i >= 0; --i) {
      const Step& step = type_.steps[i];
      const ArrayBase cotangent = std::move(cotangents[at(i)]);
      if (!ArrayAccess::buffer(cotangent)) continue;
      if (step.kind == Step::Kind::leaf) give(step, cotangent);
      if (!step.through) continue;
      ArrayBase shares[Step::most_operands];
      step.op->vjp(cotangent, Operands(step, values).at, values[at(i)], shares);
      for (int j = 0; j < step.arity; ++j)
        if (step.through >> j & 1) cotangents[at(step.operand[j])] = std::move(shares[j]);
    }
  }

  // The tangent of the root from those of the leaves, null where they are zero.
  NAX_COMPILED_ONCE std::optional<ArrayBase> push(const ArrayBase* const* leaf_tangents) const {
    const std::vector<ArrayBase> values = this->values();
    std::vector<ArrayBase> tangents(values.size());  // zero where there is no buffer
    for (int i = 0; i <= root(); ++i) {
      const Step& step = type_.steps[i];
      if (step.through)
        push_step(step, values, values[at(i)], tangents, tangents[at(i)]);
      else if (step.share_of_leaf && leaf_tangents[step.slot])
        tangents[at(i)] = *leaf_tangents[step.slot];
    }
    if (!ArrayAccess::buffer(tangents.back())) return std::nullopt;
    return std::move(tangents.back());
  }

 private:
  static std::size_t at(int step) { return static_cast<std::size_t>(step); }
  int root() const { return type_.step_count - 1; }

  // A number: it goes along to any device.
  ArrayBase constant(const Step& step) const {
    return array_of_number(step.dtype, static_cast<const char*>(constants_) + at(step.slot) * constant_bytes);
  }
  std::vector<ArrayBase> values() const;
  struct Operands {
    ArrayBase at[Step::most_operands];
    Operands(const Step& step, const std::vector<ArrayBase>& values) {
      for (int j = 0; j < step.arity; ++j) at[j] = values[RecordedSteps::at(step.operand[j])];
    }
  };

  // The shares of a tangent, to all operands; the j-th counts. Where it has NaNs the derivative itself tells
  // whether a zero of it met an infinite tangent.
  static void push_by_vjp(const Step& step, int j, const ArrayBase& t, const Operands& operands,
                          const ArrayBase& y, ArrayBase* shares) {
    step.op->vjp(t, operands.at, y, shares);
    if (!step.op->drop || !step.op->may_hold_nan(shares[j])) return;
    ArrayBase derivatives[Step::most_operands];
    step.op->vjp(step.op->one(), operands.at, y, derivatives);
    step.op->drop(derivatives[j], shares[j]);
  }
  static void push_step(const Step& step, const std::vector<ArrayBase>& values, const ArrayBase& y,
                        const std::vector<ArrayBase>& tangents, ArrayBase& total);

  const FusedType& type_;
  const LeafArrays& leaves_;
  const void* constants_;
};

// A leaf whose value no derivative reads was not kept.
NAX_ENGINE void unpack_leaves(const FusedType& type, const PackedArray* packed, LeafArrays& leaves);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/recorded_steps-inl.hpp"
#endif
