#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/core/error.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/formula/array_loop.hpp"
#include "nax/program/record/work_check.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace program {
namespace detail {

// Runs the formula over operands of the step: its inputs, its results, and those that are reduced.
class FormulaWork final : public Work {
 public:
  explicit FormulaWork(const Step& step)
      : kernel_(formula::kernel_of(step.formula->formula)),
        inputs_(step.formula->inputs.begin(), step.formula->inputs.begin() + step.formula->formula.inputs) {
    for (const int result : step.formula->results) inputs_.push_back({result});
    std::vector<const cpu::Reducer*> reducers;
    for (const MapFormula::Reduced& r : step.formula->reduced) {
      const DType type = step.operands[static_cast<std::size_t>(r.operand)].dtype;
      inputs_.push_back({r.operand});
      reducers.push_back(&cpu::reducer_for(r.kind, type, type));
    }
    const Dims& shape = step.operands[0].shape;
    std::vector<loops::Operand> operands;
    for (const MapFormula::Input& x : inputs_)
      operands.push_back({nullptr, x.operand < 0
                                       ? Dims(shape.size(), 0)
                                       : step.operands[static_cast<std::size_t>(x.operand)].strides});
    loop_.emplace(*kernel_, shape, std::move(operands), reducers);
  }
  // Of lanes of operands that are the formula's inputs, then its results: `strides` in elements.
  FormulaWork(const formula::Formula& f, const std::vector<std::int64_t>& strides, std::int64_t lanes,
              std::int64_t grain)
      : kernel_(formula::kernel_of(f)), of_elements_(lanes == 1) {
    loop_.emplace(*kernel_, lanes, strides.data(), grain);
  }

  std::shared_ptr<const Work> reading_first() const override {
    if (!of_elements_ || kernel_->types().size() - read() > most_apart) return nullptr;
    auto made = std::make_shared<FormulaWork>(*this);
    made->reads_first_ = true;
    return made;
  }

  void run(void* const* at) const override {
    if (reads_first_) return run_apart(at);
    if (inputs_.empty()) return loop_->run(reinterpret_cast<char* const*>(at));
    SmallVector<char*, 64> places;  // derivatives of high order have many
    places.resize_for_overwrite(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      places[i] =
          static_cast<char*>(inputs_[i].operand >= 0 ? at[static_cast<std::size_t>(inputs_[i].operand)]
                                                     : const_cast<std::uint64_t*>(&inputs_[i].number));
    loop_->run(places.data());
  }

  void verify(WorkCheck& check) const override {
    for (std::size_t i = 0; i < kernel_->types().size(); ++i) {
      const auto [first, bytes] = loop_->reach(i);
      const int operand = inputs_.empty() ? static_cast<int>(i) : inputs_[i].operand;
      if (i >= read())
        check.writes(operand, first, bytes);
      else if (operand >= 0)
        check.reads(operand, first, bytes);
    }
  }

 private:
  static constexpr std::size_t most_apart = 256;
  std::size_t read() const { return static_cast<std::size_t>(kernel_->lowered().inputs); }
  // Writes results of one element each when all are computed.
  void run_apart(void* const* at) const {
    double numbers[most_apart];
    SmallVector<char*, 64> places(kernel_->types().size(), nullptr);
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = i < read() ? static_cast<char*>(at[i]) : reinterpret_cast<char*>(numbers + (i - read()));
    loop_->run(places.data());
    for (std::size_t i = read(); i < places.size(); ++i)
      std::memcpy(at[i], places[i], dtype_size(kernel_->types()[i]));
  }

  std::shared_ptr<const formula::Kernel> kernel_;
  bool of_elements_ = false, reads_first_ = false;
  std::vector<MapFormula::Input> inputs_;  // then what is written; none where operands lie in that order
  std::optional<formula::ArrayLoop> loop_;
};

}  // namespace detail

NAX_ENGINE std::string problem_of_formula(const Step& step) {
  const MapFormula& map = *step.formula;
  if (map.formula.results.empty()) return "has a formula without results";
  if (map.formula.results.size() != map.results.size() + map.reduced.size() ||
      static_cast<std::size_t>(map.formula.inputs) > map.inputs.size())
    return "has a formula of other inputs or results than its own";
  if (map.reduced.size() > MapFormula::most_reduced) return "has a formula with too many reductions";
  const auto has = [&](int operand, bool written) {
    return operand >= 0 && static_cast<std::size_t>(operand) < step.operands.size() &&
           step.operands[static_cast<std::size_t>(operand)].written == written;
  };
  bool right = true;
  for (const MapFormula::Input& x : map.inputs) right = right && (x.operand < 0 || has(x.operand, false));
  for (const int result : map.results) right = right && has(result, true);
  for (const MapFormula::Reduced& x : map.reduced) right = right && has(x.operand, true);
  if (!right) return "has a formula of operands that it has not";
  const std::vector<DType> read = map.formula.input_types(), made = map.formula.result_types();
  const std::vector<bool> is_read = map.read_inputs();
  const auto is = [&](int operand, DType type) {
    return step.operands[static_cast<std::size_t>(operand)].dtype == type;
  };
  for (std::size_t i = 0; i < read.size(); ++i)
    right = right && (!is_read[i] || map.inputs[i].operand < 0 || is(map.inputs[i].operand, read[i]));
  for (std::size_t k = 0; k < map.results.size(); ++k) right = right && is(map.results[k], made[k]);
  return right ? "" : "has a formula of other types than its operands";
}

NAX_ENGINE void drop_unread(Step& step, MapFormula& map) {
  const std::vector<bool> read = map.read_inputs();
  std::vector<int> places(step.operands.size(), -1);
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) map.inputs[i] = {};
    if (map.inputs[i].operand >= 0) places[static_cast<std::size_t>(map.inputs[i].operand)] = 0;
  }
  std::vector<Operand> kept;
  for (std::size_t o = 0; o < places.size(); ++o)
    if (places[o] == 0 || step.operands[o].written) {
      places[o] = static_cast<int>(kept.size());
      kept.push_back(std::move(step.operands[o]));
    }
  step.operands = std::move(kept);
  const auto move = [&](int& operand) { operand = places[static_cast<std::size_t>(operand)]; };
  for (MapFormula::Input& input : map.inputs)
    if (input.operand >= 0) move(input.operand);
  for (int& result : map.results) move(result);
  for (MapFormula::Reduced& reduced : map.reduced) move(reduced.operand);
}

NAX_ENGINE void run_by_formula(Step& step) {
  const MapFormula& map = *step.formula;
  std::string problem = problem_of_formula(step);
  if (!map.reduced.empty() && std::max(map.inputs.size(), map.formula.results.size()) > loops::max_operands)
    problem = "reduces a formula of too many operands";
  if (!problem.empty()) throw Error("jit: a step " + problem);
  step.work = std::make_shared<const detail::FormulaWork>(step);
  // All of a packet is computed before any of it is written, but for what is read and handed on.
  step.in_place =
      map.reduced.empty() &&
      std::none_of(map.formula.results.begin(), map.formula.results.end(), [&](int result) {
        return map.formula.steps[static_cast<std::size_t>(result)].operation == formula::Operation::input;
      });
}

NAX_ENGINE bool reduces_by_formula(loops::ReduceKind kind, DType from, DType to) {
  using enum loops::ReduceKind;
  return from == to && (from == DType::float32 || from == DType::float64) &&
         (kind == sum || kind == product || kind == max || kind == min);
}

}  // namespace program
NAX_END
