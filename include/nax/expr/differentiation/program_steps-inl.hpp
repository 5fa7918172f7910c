#pragma once

#include <array>

#include "nax/backend/cpu/packets/holds_nan.hpp"
#include "nax/expr/differentiation/program_steps.hpp"
#include "nax/expr/differentiation/unbroadcast.hpp"
#include "nax/expr/evaluation/as_dtype.hpp"
#include "nax/program/record/recording.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/expr/evaluation/formula_kernels.hpp"
#include "nax/program/replay/map_formula.hpp"
#endif

NAX_BEGIN
namespace detail {

// An expression's compiled kernels as the work of a step, of values, gradients or values that are reduced:
// where a program has no formula of it, or does not fuse it with others.
struct KernelWork final : program::Work {
  // `operands`: leaves, then the result; or the cotangent and gradients. `sizes`: of what is reduced, or
  // gradient by gradient.
  KernelWork(const KernelTable& of, const void* from, const Dims& over, std::vector<loops::Operand> all)
      : table(of),
        numbers(new Slots[static_cast<std::size_t>(of.constants) + 1]),
        shape(over),
        operands(std::move(all)) {
    if (of.constants > 0)
      std::memcpy(numbers.get(), from, static_cast<std::size_t>(of.constants) * constant_bytes);
  }
  void run(void* const* at) const override {
    const void* const constants = numbers.get();
    const int count = table.leaves;
    if (flat > 0 && pull) return pull(constants, at, at[count], at + count + 1, present, nullptr, flat);
    if (flat > 0) {
      const bool one = flat == 1 && table.plain;
      return (one ? table.scalar_forward : table.forward)(constants, at, at[count], flat);
    }
    loops::Operand own[2 * max_leaves + 1];
    for (std::size_t o = 0; o < operands.size(); ++o) own[o] = program::at(operands[o], at[o]);
    if (pull)
      cpu::pull(pull, constants, shape, own, sizes.data(), present, count);
    else if (reducer)
      cpu::reduce(table.forward, constants, shape, own, count, sizes[0], *reducer);
    else
      cpu::map(table.forward, constants, shape, own, count);
  }
  std::string text(const std::vector<std::string>& names) const override {
    const std::string text = pull ? std::string() : formula_text(table.formula, numbers.get(), names);
    return text.empty() || !reducer ? text : name_of(reducer->kind) + ("(" + text + ")");
  }
  program::StepExpression expression() const override {
    if (pull) return {};
    return {table.formula, numbers.get(), reducer ? std::optional(reducer->kind) : std::nullopt};
  }

  using Slots = ConstantSlots<1>;
  const KernelTable& table;
  std::unique_ptr<Slots[]> numbers;
  Dims shape;
  std::vector<loops::Operand> operands;
  std::int64_t flat = 0;  // elements, where all are runs of the kernel's own types
  cpu::PullKernel pull = nullptr;
  const cpu::Reducer* reducer = nullptr;
  std::array<std::int64_t, max_leaves> sizes{};
  unsigned present = 0;
};

inline program::Operand step_operand(const loops::Operand& x, const Dims& shape, bool written = false) {
  return {program::Recorder::current().place(x.data), written, x.stored, shape, x.strides};
}
inline std::string kernel_attributes(const void* kernel, const void* constants, int count) {
  return "kernel" + std::string(reinterpret_cast<const char*>(&kernel), sizeof kernel) +
         std::string(static_cast<const char*>(constants), static_cast<std::size_t>(count) * constant_bytes);
}

// ---- maps as data

#if defined(NAX_USES_FORMULAS)
// Whether all is stored in the type of the expression's formula.
inline bool has_one_type(const KernelTable& table) {
  if (!table.symbols || !table.symbols->one_type || table.result != table.symbols->type ||
      table.result_lane != table.result)
    return false;
  for (int l = 0; l < table.leaves; ++l)
    if (table.stored[l] != table.result || table.lanes[l] != table.result) return false;
  return true;
}
// Inputs that are the leaves, which are the step's first operands, and the expression's numbers.
inline std::vector<program::MapFormula::Input> formula_inputs(const KernelTable& table,
                                                              const void* constants) {
  std::vector<program::MapFormula::Input> inputs;
  for (int l = 0; l < table.leaves; ++l) inputs.push_back({l});
  for (int k = 0; k < table.constants; ++k) {
    program::MapFormula::Input number;
    std::memcpy(&number.number,
                static_cast<const char*>(constants) + static_cast<std::size_t>(k) * constant_bytes,
                sizeof number.number);
    inputs.push_back(number);
  }
  return inputs;
}
inline void add_map_formula(program::Step& step, const KernelTable& table, const void* constants) {
  if (!table.symbols) return;
  auto map = std::make_shared<program::MapFormula>();
  map->formula =
      formula_of(*table.symbols, constants, SeparateLeaves(table.leaves).inputs, FormulaOperands::stored);
  map->inputs = formula_inputs(table, constants);
  map->results = {table.leaves};
  const std::vector<formula::Step>& steps = map->formula.steps;
  step.adds = table.leaves == 2 && steps.size() == 3 && steps[2].operation == formula::Operation::add &&
              steps[2].operand[0] != steps[2].operand[1] && map->formula.results[0] == 2;
  step.formula = std::move(map);
}
inline void add_reduce_formula(program::Step& step, const KernelTable& table, const void* constants,
                               const cpu::Reducer& reducer) {
  if (!has_one_type(table) || reducer.from != table.result ||
      !program::reduces_by_formula(reducer.kind, reducer.from, reducer.to))
    return;
  auto map = std::make_shared<program::MapFormula>();
  map->formula = formula_of(*table.symbols, constants, SeparateLeaves(table.leaves).inputs);
  map->inputs = formula_inputs(table, constants);
  map->reduced = {{table.leaves, reducer.kind}};
  step.formula = std::move(map);
}
inline WantedGradients wanted_gradients(const KernelTable& table,
                                        const std::vector<loops::Operand>& operands) {
  void* targets[max_leaves];
  for (int l = 0; l < table.leaves; ++l)
    targets[l] = operands[static_cast<std::size_t>(table.leaves + 1 + l)].data;
  return WantedGradients(*table.symbols, targets, 0);
}
// Leaves and the cotangent where no gradient depends on them become another operand of their layout, or one
// zero, so that steps that compute them may go. Operands: as those of record_pull_step. The formula of the
// gradients.
inline std::shared_ptr<program::MapFormula> replace_unread(const KernelTable& table, const void* constants,
                                                           std::vector<loops::Operand>& operands) {
  if (!table.symbols) return nullptr;
  const std::size_t count = static_cast<std::size_t>(table.leaves);
  auto map = std::make_shared<program::MapFormula>();
  map->formula = stored_pull_formula(*table.symbols, constants, wanted_gradients(table, operands), false,
                                     FormulaOperands::stored);
  map->inputs = formula_inputs(table, constants);
  map->inputs.push_back({table.leaves});
  const std::vector<bool> read = map->read_inputs();
  const auto is_read = [&](std::size_t o) { return read[o < count ? o : read.size() - 1]; };
  for (std::size_t o = 0; o <= count; ++o) {
    if (is_read(o)) continue;
    map->inputs[o < count ? o : read.size() - 1] = {};
    loops::Operand& x = operands[o];
    bool found = false;
    for (std::size_t r = 0; r <= count && !found; ++r) {
      const loops::Operand& y = operands[r];
      found = is_read(r) && y.strides == x.strides && y.stored == x.stored && y.lane == x.lane;
      if (found) x.data = y.data;
    }
    alignas(64) static char zero[64] = {};
    if (!found) x.data = zero, x.strides = Dims(x.strides.size(), 0);
  }
  return map;
}
// Gives the step the formula of its gradients, which are all runs or all sums.
inline void add_pull_formula(program::Step& step, const KernelTable& table,
                             std::shared_ptr<program::MapFormula> map,
                             const std::vector<loops::Operand>& operands, bool sums) {
  if (!map || (sums && !has_one_type(table))) return;
  const int count = table.leaves;
  const WantedGradients wanted = wanted_gradients(table, operands);
  for (int l = 0; l < count; ++l)
    if (wanted.is_first(l)) {
      if (sums)
        map->reduced.push_back({count + 1 + l, loops::ReduceKind::sum});
      else
        map->results.push_back(count + 1 + l);
    }
  if (!map->formula.results.empty() && map->reduced.size() <= program::MapFormula::most_reduced)
    step.formula = std::move(map);
}
#else
inline void add_map_formula(program::Step&, const KernelTable&, const void*) {}
inline void add_reduce_formula(program::Step&, const KernelTable&, const void*, const cpu::Reducer&) {}
inline std::nullptr_t replace_unread(const KernelTable&, const void*, std::vector<loops::Operand>&) {
  return nullptr;
}
inline void add_pull_formula(program::Step&, const KernelTable&, std::nullptr_t,
                             const std::vector<loops::Operand>&, bool) {}
#endif

NAX_ENGINE void record_map(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                           const Frame& frame, const ArrayBase& result) {
  const std::int64_t n = frame.size();
  if (n == 0) return;
  const int count = table.leaves;
  std::vector<loops::Operand> operands;
  bool flat = table.result_lane == table.result && n <= cpu::detail::parallel_grain;
  for (int l = 0; l < count; ++l) {
    const Layout& layout = layout_of(*leaves[l]);
    operands.push_back(
        {device_data(*leaves[l]), strides_over(layout, frame), leaves[l]->dtype(), table.lanes[l]});
    flat = flat && table.stored[l] == table.lanes[l] && layout.is_contiguous() && layout.shape == frame.shape;
  }
  operands.push_back({device_data(result), layout_of(result).strides, table.result, table.result_lane});
  program::Step step;
  step.name = table.name;
  for (int o = 0; o <= count; ++o)
    step.operands.push_back(step_operand(operands[static_cast<std::size_t>(o)], frame.shape, o == count));
  step.attributes =
      kernel_attributes(reinterpret_cast<const void*>(table.forward), constants, table.constants);
  step.comparable = step.in_place = true;
  step.flops = static_cast<double>(count_functions(table.formula)) * static_cast<double>(n);
  add_map_formula(step, table, constants);
  auto work = std::make_shared<KernelWork>(table, constants, frame.shape, std::move(operands));
  if (flat) work->flat = n;
  step.work = std::move(work);
  program::Recorder::current().add(std::move(step));
}

// ---- gradients

// The backward kernel over `all` as a step. `operands`: leaves, cotangent, gradients (without data where they
// are not wanted).
inline void record_pull_step(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                             const Dims& shape, std::vector<loops::Operand> operands,
                             const std::array<std::int64_t, max_leaves>& sizes, unsigned present) {
  const int count = table.leaves;
  const auto formula = replace_unread(table, constants, operands);
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  bool flat = n > 0 && n <= cpu::detail::parallel_grain;
  unsigned added = present;
  program::Step step;
  step.name = std::string(table.name) + "_gradient";
  step.flops = 2. * static_cast<double>(count_functions(table.formula)) * static_cast<double>(n);
  step.attributes = kernel_attributes(reinterpret_cast<const void*>(kernel), constants, table.constants);
  for (int o = 0; o <= 2 * count; ++o) {
    const loops::Operand& x = operands[static_cast<std::size_t>(o)];
    flat = flat && x.stored == x.lane && (!x.data || is_run(x.strides, shape));
    for (int k = count + 1; k < o; ++k)
      if (x.data && operands[static_cast<std::size_t>(k)].data == x.data) added |= 1u << (o - count - 1);
    step.operands.push_back(step_operand(x, shape, o > count && x.data));
  }
  bool whole = present == 0, sums = present == 0;
  for (int o = count + 1; o <= 2 * count; ++o) {
    if (!operands[static_cast<std::size_t>(o)].data) continue;
    const bool is_whole = is_run(operands[static_cast<std::size_t>(o)].strides, shape);
    whole = whole && is_whole;
    sums = sums && !is_whole;
  }
  if (whole || sums) add_pull_formula(step, table, formula, operands, sums);
  auto work = std::make_shared<KernelWork>(table, constants, shape, std::move(operands));
  work->pull = kernel;
  if (flat) work->flat = n;
  work->sizes = sizes;
  work->present = flat ? added : present;
  step.work = std::move(work);
  program::Recorder::current().add(std::move(step));
}

// Gradients that are sums are a step of their own where the others can be fused with other maps.
inline void record_pull_steps(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                              const Dims& shape, std::vector<loops::Operand> operands,
                              const std::array<std::int64_t, max_leaves>& sizes) {
  std::vector<loops::Operand> sums = operands;
  int whole = 0, summed = 0;
  for (std::size_t o = static_cast<std::size_t>(table.leaves) + 1; o < operands.size(); ++o) {
    if (!operands[o].data) continue;
    const bool is_whole = is_run(operands[o].strides, shape);
    ++(is_whole ? whole : summed);
    (is_whole ? sums : operands)[o].data = nullptr;
  }
  const bool fuses = table.symbols != nullptr && whole > 0;
  if (!fuses && whole > 0)
    for (std::size_t o = static_cast<std::size_t>(table.leaves) + 1; o < operands.size(); ++o)
      if (sums[o].data) operands[o] = sums[o];
  if (whole > 0) record_pull_step(table, kernel, constants, shape, std::move(operands), sizes, 0);
  if (summed > 0 && (fuses || whole == 0))
    record_pull_step(table, kernel, constants, shape, std::move(sums), sizes, 0);
}

NAX_ENGINE void record_pull(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                            const void* constants, const PackedArray* leaves, const ArrayBase& g,
                            Reverse& sweep) {
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  std::vector<loops::Operand> operands(static_cast<std::size_t>(2 * count + 1));
  std::array<std::int64_t, max_leaves> sizes{};
  std::size_t nodes[max_leaves];
  LeafArrays gradients(count);
  const ArrayBase cotangent = as_dtype(g, table.result);
  operands[static_cast<std::size_t>(count)] = {
      device_data(cotangent), strides_over(layout_of(cotangent), all), table.result, table.result_lane};
  const bool stands_in = layout_of(cotangent).is_contiguous() && layout_of(cotangent).shape == all.shape;
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType lane = table.lanes[l];
    loops::Operand& from = operands[static_cast<std::size_t>(l)];
    loops::Operand& target = operands[static_cast<std::size_t>(count + 1 + l)];
    from = leaf_operand(leaf, all, table.stored[l], lane);
    // Where no derivative reads the leaf, the cotangent is read in its place.
    if (!leaf.buffer() && stands_in && table.stored[l] == table.result)
      from = {operands[static_cast<std::size_t>(count)].data,
              operands[static_cast<std::size_t>(count)].strides, table.stored[l], lane};
    target = {nullptr, Dims(all.shape.size(), 0), lane, lane};
    nodes[l] = sweep.place(leaf.serial());
    if (nodes[l] == Tape::npos) continue;
    if (const int first = first_occurrence(leaves, l); first != l) {
      target = operands[static_cast<std::size_t>(count + 1 + first)];
      sizes[static_cast<std::size_t>(l)] = sizes[static_cast<std::size_t>(first)];
      continue;
    }
    gradients[l] = allocate(lane, gradient_frame(leaf.layout(), own, layout_of(g)), g.device());
    target.data = device_data(gradients[l]);
    target.strides = strides_over(layout_of(gradients[l]), all);
    sizes[static_cast<std::size_t>(l)] = layout_of(gradients[l]).size();
  }
  record_pull_steps(table, kernel, constants, all.shape, std::move(operands), sizes);
  for (int l = 0; l < count; ++l)
    if (ArrayAccess::buffer(gradients[l]))
      sweep.add_at(nodes[l], as_dtype(std::move(gradients[l]), table.stored[l]));
}

#if defined(NAX_USES_FORMULAS)
inline bool are_as_stored(const KernelTable& table, const ArrayBase* const* tangents) {
  for (int l = 0; l < table.leaves; ++l)
    if (tangents[l] && tangents[l]->dtype() != table.stored[l]) return false;
  return true;
}
// The tangent by the push formula, which drops what zeros make of infinities by itself.
inline ArrayBase record_push_formula(const KernelTable& table, const void* constants,
                                     const PackedArray* leaves, const ArrayBase* const* tangents,
                                     const Frame& all) {
  const int count = table.leaves;
  const ArrayBase result = allocate(table.result, all, program::device);
  auto map = std::make_shared<program::MapFormula>();
  program::Step step;
  step.name = std::string(table.name) + "_tangent";
  short inputs[max_leaves];
  unsigned moving = 0;
  for (int l = 0; l < count; ++l) {
    inputs[l] = static_cast<short>(leaves[l].serial() == 0 ? l : first_occurrence(leaves, l));
    if (inputs[l] == l && tangents[l]) moving |= 1u << l;
    step.operands.push_back(
        step_operand(leaf_operand(leaves[l], all, table.stored[l], table.lanes[l]), all.shape));
  }
  map->formula = push_formula_of(*table.symbols, constants, inputs, moving, nullptr, FormulaOperands::stored);
  map->inputs = formula_inputs(table, constants);
  for (int l = 0; l < count; ++l) {
    // (Of leaves that are one array, some may have been kept without their values.)
    for (int k = l; k < count; ++k)
      if (inputs[k] == l && leaves[k].buffer()) map->inputs[static_cast<std::size_t>(l)].operand = k;
    if (!(moving >> l & 1)) continue;
    map->inputs.push_back({static_cast<int>(step.operands.size())});
    step.operands.push_back(
        step_operand({device_data(*tangents[l]), strides_over(layout_of(*tangents[l]), all),
                      tangents[l]->dtype(), table.result_lane},
                     all.shape));
  }
  map->results = {static_cast<int>(step.operands.size())};
  step.operands.push_back(step_operand(
      {device_data(result), layout_of(result).strides, table.result, table.result}, all.shape, true));
  program::drop_unread(step, *map);
  step.formula = std::move(map);
  program::run_by_formula(step);
  program::Recorder::current().add(std::move(step));
  return result;
}
#endif

NAX_ENGINE ArrayBase record_push(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                                 const PackedArray* leaves, const ArrayBase* const* tangents,
                                 const Frame& all) {
#if defined(NAX_USES_FORMULAS)
  if (table.symbols && all.size() > 0 && are_as_stored(table, tangents))
    return record_push_formula(table, constants, leaves, tangents, all);
#endif
  const int count = table.leaves;
  const ArrayBase result = allocate(table.result_lane, all, program::device);
  const Dims rows = layout_of(result).strides;
  unsigned done = 0;
  for (int first = 0; first < count; ++first) {
    if (!tangents[first] || done >> first & 1) continue;
    std::vector<loops::Operand> operands(static_cast<std::size_t>(2 * count + 1));
    std::array<std::int64_t, max_leaves> sizes{};
    const unsigned present = done ? 1u << first : 0u;
    for (int l = 0; l < count; ++l) {
      operands[static_cast<std::size_t>(l)] = leaf_operand(leaves[l], all, table.stored[l], table.lanes[l]);
      loops::Operand& target = operands[static_cast<std::size_t>(count + 1 + l)];
      target = {nullptr, Dims(all.shape.size(), 0), table.lanes[l], table.lanes[l]};
      if (!tangents[l] || leaves[l].serial() != leaves[first].serial()) continue;
      target.data = device_data(result);
      target.strides = rows;
      sizes[static_cast<std::size_t>(l)] = layout_of(result).size();
      done |= 1u << l;
    }
    operands[static_cast<std::size_t>(count)] = {device_data(*tangents[first]),
                                                 strides_over(layout_of(*tangents[first]), all),
                                                 tangents[first]->dtype(), table.result_lane};
    record_pull_step(table, kernel, constants, all.shape, std::move(operands), sizes, present);
  }
  // A derivative of zero may have met an infinite tangent: then the function is called itself.
  const std::int64_t n = layout_of(result).size();
  const auto check = [n, dtype = result.dtype()](void* const* at) {
    if (dtype == DType::float32 ? cpu::holds_nan(static_cast<const float*>(at[0]), n)
                                : cpu::holds_nan(static_cast<const double*>(at[0]), n))
      throw program::Unforeseen();
  };
  if (table.result == table.result_lane &&
      (result.dtype() == DType::float32 || result.dtype() == DType::float64)) {
    program::Step step;
    step.name = "check_tangent";
    step.operands.push_back(
        step_operand({device_data(result), rows, result.dtype(), result.dtype()}, all.shape));
    step.work = std::make_shared<const program::detail::Closure<decltype(check)>>(check);
    step.checks = step.unforeseen = true;
    program::Recorder::current().add(std::move(step));
  }
  return as_dtype(result, table.result);
}

// ---- reductions

NAX_ENGINE void record_reduce(const cpu::Reducer& reducer, const KernelTable& table, const void* constants,
                              const ArrayBase* const* leaves, const Frame& frame, const Dims& result_strides,
                              const ArrayBase& result) {
  const int count = table.leaves;
  std::vector<loops::Operand> operands;
  for (int l = 0; l < count; ++l)
    operands.push_back({device_data(*leaves[l]), strides_over(layout_of(*leaves[l]), frame),
                        leaves[l]->dtype(), table.lanes[l]});
  operands.push_back({device_data(result), result_strides, reducer.to, reducer.to});
  program::Step step;
  step.name = name_of(reducer.kind);
  step.flops = static_cast<double>(frame.size()) * (1 + static_cast<double>(count_functions(table.formula)));
  step.attributes =
      kernel_attributes(reinterpret_cast<const void*>(table.forward), constants, table.constants) +
      kernel_attributes(&reducer, nullptr, 0);
  step.comparable = true;
  for (int o = 0; o <= count; ++o)
    step.operands.push_back(step_operand(operands[static_cast<std::size_t>(o)], frame.shape, o == count));
  add_reduce_formula(step, table, constants, reducer);
  auto work = std::make_shared<KernelWork>(table, constants, frame.shape, std::move(operands));
  work->reducer = &reducer;
  work->sizes[0] = layout_of(result).size();
  step.work = std::move(work);
  program::Recorder::current().add(std::move(step));
}

}  // namespace detail
NAX_END
