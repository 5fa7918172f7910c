#pragma once

#include "nax/core/at_fork.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/expr/differentiation/formula_node.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace detail {

// ---- running a formula over arrays

using FormulaLines = SmallVector<formula::Line, 16>;
using FormulaTargets = SmallVector<formula::Target, 8>;

// The lines of operands that all are unbroken runs over the frame or one number.
inline bool find_flat_lines(const FormulaInputs& inputs, const Frame& frame, formula::Line* lines) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ArrayBase& a = inputs[i].array;
    if (!holds_value(a)) {
      lines[i] = {&inputs[i].number, 0};
      continue;
    }
    const Layout& layout = layout_of(a);
    bool repeated = true;
    for (std::size_t axis = 0; repeated && axis < layout.shape.size(); ++axis)
      repeated = layout.shape[axis] == 1 || layout.strides[axis] == 0;
    if (!repeated && !(layout.is_contiguous() && layout == frame)) return false;
    lines[i] = {raw_data(a), repeated ? 0 : 1};
  }
  return true;
}

inline void run_flat(const formula::Kernel& kernel, const formula::Line* lines, std::size_t count,
                     const std::vector<ArrayBase>& results, std::int64_t n) {
  const std::size_t size = results.empty() ? 0 : dtype_size(results[0].dtype());
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    const auto bytes = [&](std::int64_t stride) { return begin * stride * static_cast<std::int64_t>(size); };
    FormulaLines from(count, {});
    FormulaTargets to(results.size(), {});
    for (std::size_t i = 0; i < count; ++i)
      from[i] = {static_cast<const char*>(lines[i].data) + bytes(lines[i].stride), lines[i].stride};
    for (std::size_t k = 0; k < results.size(); ++k) to[k] = {raw_data(results[k]) + bytes(1), 1};
    kernel.run(from.data(), to.data(), end - begin);
  };
  if (n <= cpu::detail::parallel_grain)
    part(0, n);
  else
    parallel_for(n, cpu::detail::parallel_grain, part);
}

// Line by line along the last axis, others walked by their strides.
inline void run_strided(const formula::Kernel& kernel, const FormulaInputs& inputs, const Frame& frame,
                        const std::vector<ArrayBase>& results) {
  const std::size_t count = inputs.size(), size = dtype_size(results[0].dtype());
  std::vector<loops::Operand> operands(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    operands[i].strides = Dims(frame.shape.size(), 0);
    operands[i].data = reinterpret_cast<char*>(const_cast<std::uint64_t*>(&inputs[i].number));
    if (holds_value(inputs[i].array))
      operands[i] = operand_over(inputs[i].array, frame, inputs[i].array.dtype());
  }
  operands[count] = operand_over(results[0], frame, results[0].dtype());  // all lie alike
  Dims shape = frame.shape;
  loops::collapse(shape, operands.data(), static_cast<int>(count + 1));
  const std::size_t outer = shape.empty() ? 0 : shape.size() - 1;
  const std::int64_t n = shape.empty() ? 1 : shape[outer];
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis < outer; ++axis) rows *= shape[axis];
  const auto place = [&](const loops::Operand& operand, std::int64_t row) {
    std::int64_t at = 0;
    for (std::size_t axis = outer; axis-- > 0; row /= shape[axis])
      at += row % shape[axis] * operand.strides[axis];
    return at * static_cast<std::int64_t>(size);
  };
  const auto stride = [&](const loops::Operand& operand) {
    return shape.empty() ? 0 : operand.strides[outer];
  };
  parallel_for(rows, cpu::detail::parallel_grain / std::max<std::int64_t>(n, 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 FormulaLines from(count, {});
                 FormulaTargets to(results.size(), {});
                 for (std::int64_t row = begin; row < end; ++row) {
                   for (std::size_t i = 0; i < count; ++i)
                     from[i] = {operands[i].data + place(operands[i], row), stride(operands[i])};
                   for (std::size_t k = 0; k < results.size(); ++k)
                     to[k] = {raw_data(results[k]) + place(operands[count], row), 1};
                   kernel.run(from.data(), to.data(), n);
                 }
               });
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
  if (const std::int64_t n = frame.size(); n > 0 && on_program(device)) {
    record_formula(plan.formula(), inputs, frame, results);
  } else if (n > 0) {
    FormulaLines lines(inputs.size(), {});
    if (find_flat_lines(inputs, frame, lines.data()))
      run_flat(plan.kernel(), lines.data(), inputs.size(), results, n);
    else
      run_strided(plan.kernel(), inputs, frame, results);
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

inline const RootPlan* find_plan(const FusedType& type, bool pulls, unsigned leaves, const short* inputs,
                                 const std::vector<std::uint64_t>& known) {
  for (const RootPlan* p = type.plans.load(std::memory_order_acquire); p != nullptr; p = p->next)
    if (p->pulls == pulls && p->leaves == leaves && std::equal(inputs, inputs + type.leaves, p->inputs) &&
        p->known == known)
      return p;
  return nullptr;
}
inline const formula::Plan* usable(const RootPlan& root) { return root.serves ? &root.plan : nullptr; }
// Null where the operations one by one must do, also where there are too many plans already, of numbers that
// change all the time.
inline const formula::Plan* plan_of(const FusedType& type, const void* constants, bool pulls, unsigned leaves,
                                    const short* inputs) {
  constexpr int most = 64;
  const ExpressionSymbols& symbols = *type.kernels->symbols;
  std::vector<std::uint64_t> known = known_numbers(symbols, constants);
  if (const RootPlan* const found = find_plan(type, pulls, leaves, inputs, known)) return usable(*found);
  static ForkMutex& mutex = *new ForkMutex;
  const std::lock_guard lock(mutex);
  if (const RootPlan* const found = find_plan(type, pulls, leaves, inputs, known)) return usable(*found);
  int count = 0;
  for (const RootPlan* p = type.plans.load(); p != nullptr; p = p->next) ++count;
  if (count >= most) return nullptr;
  bool again = true;
  const formula::Formula f = pulls ? pull_formula_of(symbols, constants, inputs, leaves, false, &again)
                                   : push_formula_of(symbols, constants, inputs, leaves, &again);
  again = again && formula::is_differentiable(f);
  auto* const made =
      new RootPlan{pulls, leaves, {}, std::move(known), formula::Plan(f), again, type.plans.load()};
  std::copy_n(inputs, type.leaves, made->inputs);
  type.plans.store(made, std::memory_order_release);
  return usable(*made);
}

// Formulas run on the host, now or in a recorded program.
inline bool is_on_card(Device device) { return on_accelerator(device) && !on_program(device); }
// Whether all is of one type, or truth values, and lies on the host.
inline bool serves_formulas(const FusedType& type, const PackedArray* leaves) {
  const KernelTable& table = *type.kernels;
  if (!table.symbols || !table.symbols->one_type || table.result != table.symbols->type ||
      watches_operations())
    return false;
  for (int l = 0; l < type.leaves; ++l)
    if ((table.stored[l] != table.result && table.stored[l] != DType::boolean) ||
        (leaves[l].buffer() && is_on_card(leaves[l].buffer()->device)))
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
  if (!serves_formulas(type, leaves) || is_on_card(g.device())) return false;
  short inputs[max_leaves];
  find_inputs(type, leaves, inputs);
  unsigned wanted = 0;
  for (int l = 0; l < type.leaves; ++l)
    if (inputs[l] == l && type.carries >> l & 1 && sweep.wants(leaves[l].serial())) wanted |= 1u << l;
  if (wanted == 0) return true;
  const formula::Plan* const plan = plan_of(type, constants, true, wanted, inputs);
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
    if (is_on_card(tangents[l]->device())) return std::nullopt;
    moving |= 1u << l;
  }
  const formula::Plan* const plan = moving ? plan_of(type, constants, false, moving, inputs) : nullptr;
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
