#pragma once

#include "nax/expr/differentiation/formula_node.hpp"
#include "nax/expr/evaluation/formula_kernels.hpp"
#include "nax/formula/array_loop.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace detail {

// ---- running a formula over arrays

inline void run_formula(const formula::Kernel& kernel, const FormulaInputs& inputs, const Frame& frame,
                        const std::vector<ArrayBase>& results) {
  SmallVector<char*, 32> at;
  SmallVector<std::int64_t, 32> strides;  // where all are unbroken runs or one number
  bool flat = true;
  for (const FormulaInput& input : inputs) {
    const bool held = holds_value(input.array);
    at.push_back(held ? raw_data(input.array)
                      : reinterpret_cast<char*>(const_cast<std::uint64_t*>(&input.number)));
    const bool whole = held && layout_of(input.array).is_contiguous() && layout_of(input.array) == frame;
    flat =
        flat && (whole || !held || is_repeated(layout_of(input.array).strides, layout_of(input.array).shape));
    strides.push_back(whole ? 1 : 0);
  }
  for (const ArrayBase& result : results) at.push_back(raw_data(result)), strides.push_back(1);
  if (flat)
    return formula::ArrayLoop(kernel, frame.size(), strides.data(), cpu::detail::parallel_grain)
        .run(at.data());
  std::vector<loops::Operand> operands;
  for (const FormulaInput& input : inputs)
    operands.push_back({nullptr, holds_value(input.array) ? strides_over(layout_of(input.array), frame)
                                                          : Dims(frame.shape.size(), 0)});
  for (const ArrayBase& result : results) operands.push_back({nullptr, layout_of(result).strides});
  formula::ArrayLoop(kernel, frame.shape, std::move(operands)).run(at.data());
}

// The formula as a step of the program that is being recorded.
inline void record_formula(const formula::Formula& f, const FormulaInputs& inputs, const Frame& frame,
                           const std::vector<ArrayBase>& results) {
  auto map = std::make_shared<program::MapFormula>();
  program::Step step;
  step.name = "formula";
  const auto add = [&](const ArrayBase& a, Dims strides, bool written) {
    step.operands.push_back({program::Recorder::current().place(device_data(a)), written, a.dtype(),
                             frame.shape, std::move(strides)});
    return static_cast<int>(step.operands.size()) - 1;
  };
  for (const FormulaInput& input : inputs)
    map->inputs.push_back(
        holds_value(input.array)
            ? program::MapFormula::Input{add(input.array, strides_over(layout_of(input.array), frame), false)}
            : program::MapFormula::Input{-1, input.number});
  for (const ArrayBase& result : results)
    map->results.push_back(add(result, layout_of(result).strides, true));
  map->formula = f;
  step.formula = std::move(map);
  program::run_by_formula(step);
  program::Recorder::current().add(std::move(step));
}

NAX_ENGINE std::vector<ArrayBase> apply_formula(const formula::Plan& plan, FormulaInputs inputs,
                                                const Frame& frame, Device device) {
  const std::size_t count = plan.formula().results.size();
  const DType dtype = plan.formula().type;
  std::vector<ArrayBase> results;
  results.reserve(count);
  bool recorded = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ArrayBase& a = inputs[i].array;
    if (!holds_value(a)) continue;
    if (!plan.reads(static_cast<int>(i))) {
      a = ArrayBase();
      continue;
    }
    if (a.dtype() != dtype) a = as_dtype(a, dtype);  // truth values, which no gradient reaches
    recorded = recorded || is_recorded(a);
  }
  for (std::size_t k = 0; k < count; ++k) results.push_back(allocate(dtype, frame, device));
  if (frame.size() > 0) {
    if (on_program(device))
      record_formula(plan.formula(), inputs, frame, results);
    else
      run_formula(plan.kernel(), inputs, frame, results);
  }
  if (!recorded || !recording.tape) return results;
  Tape& tape = *recording.tape;
  const std::uint64_t serial = tape.emplace<FormulaNode>(plan, std::move(inputs), frame, device);
  auto* const call = static_cast<CallNode*>(&tape[tape.find(serial)]);
  for (std::size_t k = 0; k < count; ++k)
    ArrayAccess::serial(results[k]) = tape.emplace<OutputNode>(call, serial, k, count);
  return results;
}

// ---- on the tape

NAX_ENGINE Watchers FormulaNode::watchers(const Tape& tape) const {
  Watchers all = 0;
  for (const FormulaInput& input : inputs_) all |= tape.watchers(serial_of(input.array));
  return all;
}

NAX_ENGINE void FormulaNode::pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) {
  std::vector<int> wanted, present;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (holds_value(inputs_[i].array) && sweep.wants(serial_of(inputs_[i].array)))
      wanted.push_back(static_cast<int>(i));
  if (wanted.empty()) return;
  FormulaInputs inputs = inputs_;
  Frame all = frame_;
  for (std::size_t k = 0; k < cotangents.size(); ++k) {
    if (!holds_value(cotangents[k])) continue;
    present.push_back(static_cast<int>(k));
    if (!(layout_of(cotangents[k]) == all)) all = broadcast("vjp", all, layout_of(cotangents[k]));
    inputs.push_back({std::move(cotangents[k])});
  }
  if (present.empty()) return;
  std::vector<ArrayBase> shares = apply_formula(plan_.pull(present, wanted), std::move(inputs), all, device_);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const ArrayBase& input = inputs_[static_cast<std::size_t>(wanted[j])].array;
    if (!(layout_of(input) == all)) shares[j] = sum_to(shares[j], layout_of(input), frame_);
    sweep.add(serial_of(input), std::move(shares[j]));
  }
}

NAX_ENGINE std::vector<ArrayBase> FormulaNode::push_call(Forward& sweep) {
  std::vector<int> moving;
  FormulaInputs inputs = inputs_;
  Frame all = frame_;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ArrayBase* const tangent =
        holds_value(inputs_[i].array) ? sweep.find(serial_of(inputs_[i].array)) : nullptr;
    if (!tangent) continue;
    moving.push_back(static_cast<int>(i));
    if (!(layout_of(*tangent) == all)) all = broadcast("jvp", all, layout_of(*tangent));
    inputs.push_back({*tangent});
  }
  if (moving.empty()) return {};
  return apply_formula(plan_.push(moving), std::move(inputs), all, device_);
}

// ---- derivatives of fused expressions

// The plan of a derivative: the shares of those leaves, or the tangent for theirs. Null where the operations
// one by one must do.
inline const formula::Plan* plan_of(const FusedType& type, const void* constants, FormulaWork work,
                                    unsigned leaves, const short* inputs) {
  const ExpressionSymbols& symbols = *type.kernels->symbols;
  std::uint64_t key = key_of(work) | leaves;
  for (int l = 0; l < type.leaves; ++l) key |= static_cast<std::uint64_t>(inputs[l]) << (12 + 4 * l);
  const FormulaVariant* const found =
      variant_of(type.derivatives, symbols, key, constants, nullptr, [&](bool& serves) {
        const formula::Formula f = work == FormulaWork::shares
                                       ? pull_formula_of(symbols, constants, inputs, leaves, false, &serves)
                                       : push_formula_of(symbols, constants, inputs, leaves, &serves);
        serves = serves && formula::is_differentiable(f);
        return f;
      });
  return found && found->serves ? &found->plan : nullptr;
}

// On the host, now or in a recorded program.
inline bool runs_formulas(Device device) { return !on_card(device); }
// Whether all is of one type, or truth values, and lies where formulas run.
inline bool serves_formulas(const FusedType& type, const PackedArray* leaves) {
  const KernelTable& table = *type.kernels;
  if (!table.symbols || !table.symbols->one_type || table.result != table.symbols->type ||
      watches_operations())
    return false;
  for (int l = 0; l < type.leaves; ++l)
    if ((table.stored[l] != table.result && table.stored[l] != DType::boolean) ||
        (leaves[l].buffer() && !runs_formulas(leaves[l].buffer()->device)))
      return false;
  return true;
}
// Of each leaf the first that is the same differentiated array.
inline void find_inputs(const FusedType& type, const PackedArray* leaves, short* inputs) {
  for (int l = 0; l < type.leaves; ++l)
    inputs[l] = static_cast<short>(leaves[l].serial() == 0 ? l : first_occurrence(leaves, l));
}
// (Of leaves that are one array, some may have been kept without their values.)
inline FormulaInputs inputs_of(const FusedType& type, const PackedArray* leaves, const void* constants,
                               const formula::Plan& plan, const short* inputs_of_leaves) {
  FormulaInputs inputs(static_cast<std::size_t>(type.leaves + type.constants));
  for (int l = 0; l < type.leaves; ++l) {
    ArrayBase& input = inputs[static_cast<std::size_t>(inputs_of_leaves[l])].array;
    if (plan.reads(inputs_of_leaves[l]) && leaves[l].buffer() && !holds_value(input))
      input = leaves[l].unpack(type.kernels->stored[l]);
  }
  for (int k = 0; k < type.constants; ++k)
    std::memcpy(&inputs[static_cast<std::size_t>(type.leaves + k)].number,
                static_cast<const char*>(constants) + static_cast<std::size_t>(k) * constant_bytes,
                sizeof(std::uint64_t));
  return inputs;
}

NAX_ENGINE bool give_formula_shares(const FusedType& type, const PackedArray* leaves, const void* constants,
                                    const ArrayBase& g, Reverse& sweep) {
  if (!serves_formulas(type, leaves) || !runs_formulas(g.device())) return false;
  short inputs[max_leaves];
  find_inputs(type, leaves, inputs);
  unsigned wanted = 0;
  for (int l = 0; l < type.leaves; ++l)
    if (inputs[l] == l && type.carries >> l & 1 && sweep.wants(leaves[l].serial())) wanted |= 1u << l;
  if (wanted == 0) return true;
  const formula::Plan* const plan = plan_of(type, constants, FormulaWork::shares, wanted, inputs);
  if (!plan) return false;
  const Frame own = frame_of_leaves(type.name, leaves, type.leaves);
  const Frame all = layout_of(g) == own ? own : broadcast("vjp", own, layout_of(g));
  FormulaInputs from = inputs_of(type, leaves, constants, *plan, inputs);
  from.push_back({g});
  std::vector<ArrayBase> shares = apply_formula(*plan, std::move(from), all, g.device());
  for (int l = 0, k = 0; l < type.leaves; ++l) {
    if (!(wanted >> l & 1)) continue;
    ArrayBase& share = shares[static_cast<std::size_t>(k++)];
    const Layout& layout = leaves[l].layout();
    if (!(layout == all)) share = sum_to(share, layout, own);
    sweep.add(leaves[l].serial(), std::move(share));
  }
  return true;
}

NAX_ENGINE std::optional<ArrayBase> formula_tangent(const FusedType& type, const PackedArray* leaves,
                                                    const void* constants, const ArrayBase* const* tangents) {
  if (!serves_formulas(type, leaves)) return std::nullopt;
  short inputs[max_leaves];
  find_inputs(type, leaves, inputs);
  unsigned moving = 0;
  for (int l = 0; l < type.leaves; ++l) {
    if (inputs[l] != l || !tangents[l] || !(type.carries >> l & 1)) continue;
    if (!runs_formulas(tangents[l]->device())) return std::nullopt;
    moving |= 1u << l;
  }
  const formula::Plan* const plan =
      moving ? plan_of(type, constants, FormulaWork::tangent, moving, inputs) : nullptr;
  if (!plan) return std::nullopt;
  Frame all = frame_of_leaves(type.name, leaves, type.leaves);
  FormulaInputs from = inputs_of(type, leaves, constants, *plan, inputs);
  Device device = current_device;
  for (int l = 0; l < type.leaves; ++l) {
    if (!(moving >> l & 1)) continue;
    all = broadcast("jvp", all, layout_of(*tangents[l]));
    device = tangents[l]->device();
    from.push_back({*tangents[l]});
  }
  return std::move(apply_formula(*plan, std::move(from), all, device)[0]);
}

}  // namespace detail
NAX_END
