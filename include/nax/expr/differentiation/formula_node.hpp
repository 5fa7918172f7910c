#pragma once

#include "nax/expr/differentiation/output_node.hpp"
#include "nax/expr/differentiation/recorded_steps.hpp"
#include "nax/expr/expressions/formula.hpp"
#include "nax/formula/plan.hpp"

// A formula of arrays as one call on the tape, with any number of results. Derivatives of a fused expression
// that another transform watches are such calls, and so are theirs: of any order, each is one loop.
NAX_BEGIN
namespace detail {

// An array or, where it holds none, a number of the formula's type. What the formula does not read is empty.
struct FormulaInput {
  ArrayBase array;
  std::uint64_t number = 0;  // its bytes
};
using FormulaInputs = std::vector<FormulaInput>;

// The results over `frame`, which all inputs broadcast to; recorded where an input is. All lie on the host.
NAX_ENGINE std::vector<ArrayBase> apply_formula(const formula::Plan& plan, FormulaInputs inputs,
                                                const Frame& frame, Device device);

class FormulaNode final : public CallNode {
 public:
  FormulaNode(const formula::Plan& plan, FormulaInputs inputs, const Frame& frame, Device device)
      : plan_(plan), inputs_(std::move(inputs)), frame_(frame), device_(device) {}
  NAX_ENGINE_VIRTUAL Watchers watchers(const Tape& tape) const override;
  NAX_ENGINE_VIRTUAL void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> push_call(Forward& sweep) override;

 private:
  const formula::Plan& plan_;
  FormulaInputs inputs_;
  Frame frame_;
  Device device_;
};

// Gives the sweep the shares of g, recorded. False, and nothing done, where the expression has no formula.
NAX_ENGINE bool give_formula_shares(const FusedType& type, const PackedArray* leaves, const void* constants,
                                    const ArrayBase& g, Reverse& sweep);
// The recorded tangent of an expression from those of its leaves, null where they are zero.
NAX_ENGINE std::optional<ArrayBase> formula_tangent(const FusedType& type, const PackedArray* leaves,
                                                    const void* constants, const ArrayBase* const* tangents);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/formula_node-inl.hpp"
#endif
