#pragma once

#include <algorithm>
#include <optional>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/core/error.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/program/record/work_check.hpp"
#include "nax/program/replay/formula_line.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace program {
namespace detail {

// One for each input and result: derivatives of high order have many.
using FormulaPlaces = SmallVector<const char*, 64>;

// Line after line along the last axis that is left when axes are merged.
class FormulaWork final : public Work {
 public:
  explicit FormulaWork(const Step& step) : inputs_(step.formula->inputs), results_(step.formula->results) {
    std::vector<loops::Operand> operands;
    for (const MapFormula::Input& input : inputs_) operands.push_back(as_walked(step, input.operand));
    for (const int result : results_) operands.push_back(as_walked(step, result));
    Dims shape = step.operands[static_cast<std::size_t>(results_[0])].shape;
    loops::collapse(shape, operands.data(), static_cast<int>(operands.size()));
    line_ = shape.empty() ? 1 : shape[shape.size() - 1];
    for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) outer_.push_back(shape[axis]);
    for (const std::int64_t d : outer_) lines_ *= d;
    std::vector<std::int64_t> strides;
    for (const loops::Operand& x : operands)
      strides.push_back(shape.empty() ? 1 : x.strides[shape.size() - 1]);
    for (std::size_t i = 0; shape.empty() && i < inputs_.size(); ++i)
      if (inputs_[i].operand < 0) strides[i] = 0;
    kernel_.emplace(step.formula->formula, strides);
    for (std::size_t i = 0; i < operands.size(); ++i)  // operand by operand
      for (std::size_t axis = 0; axis < outer_.size(); ++axis)
        steps_.push_back(operands[i].strides[axis] * kernel_->size(i));
  }

  void run(void* const* at) const override {
    const std::size_t read = inputs_.size(), all = read + results_.size();
    FormulaPlaces places;
    places.resize_for_overwrite(all);
    for (std::size_t i = 0; i < read; ++i)
      places[i] = inputs_[i].operand >= 0
                      ? static_cast<const char*>(at[static_cast<std::size_t>(inputs_[i].operand)])
                      : reinterpret_cast<const char*>(&inputs_[i].number);
    for (std::size_t k = 0; k < results_.size(); ++k)
      places[read + k] = static_cast<const char*>(at[static_cast<std::size_t>(results_[k])]);
    if (outer_.empty()) {
      if (line_ <= cpu::detail::parallel_grain) return run_line(places.data(), line_);
      return parallel_for(line_, cpu::detail::parallel_grain, [&](std::int64_t begin, std::int64_t end) {
        FormulaPlaces own = places;
        for (std::size_t i = 0; i < all; ++i) own[i] += begin * kernel_->strides()[i];
        run_line(own.data(), end - begin);
      });
    }
    const std::int64_t grain = cpu::detail::parallel_grain / std::max<std::int64_t>(line_, 1) + 1;
    if (lines_ <= grain) return run_lines(places, 0, lines_);
    parallel_for(lines_, grain, [&](std::int64_t begin, std::int64_t end) { run_lines(places, begin, end); });
  }

  void verify(WorkCheck& check) const override {
    for (std::size_t i = 0; i < inputs_.size() + results_.size(); ++i) {
      const bool reads = i < inputs_.size();
      const int operand = reads ? inputs_[i].operand : results_[i - inputs_.size()];
      if (operand < 0) continue;
      std::int64_t first = 0, last = 0;
      const auto walk = [&](std::int64_t n, std::int64_t step) {
        (step < 0 ? first : last) += (n - 1) * step;
      };
      walk(line_, kernel_->strides()[i]);
      for (std::size_t axis = 0; axis < outer_.size(); ++axis)
        walk(outer_[axis], steps_[i * outer_.size() + axis]);
      reads ? check.reads(operand, first, last - first + kernel_->size(i))
            : check.writes(operand, first, last - first + kernel_->size(i));
    }
  }

 private:
  static loops::Operand as_walked(const Step& step, int operand) {
    loops::Operand x;
    if (operand < 0)
      x.strides = Dims(step.operands[static_cast<std::size_t>(step.formula->results[0])].shape.size(), 0);
    else
      x.strides = step.operands[static_cast<std::size_t>(operand)].strides;
    return x;
  }
  void run_lines(const FormulaPlaces& places, std::int64_t begin, std::int64_t end) const {
    FormulaPlaces own = places;
    const std::size_t all = places.size(), rank = outer_.size();
    for (std::int64_t l = begin; l < end; ++l) {
      std::copy_n(places.data(), all, own.data());
      std::int64_t rest = l;
      for (std::size_t axis = rank; axis-- > 0; rest /= outer_[axis]) {
        const std::int64_t index = rest % outer_[axis];
        for (std::size_t i = 0; i < all; ++i) own[i] += index * steps_[i * rank + axis];
      }
      run_line(own.data(), line_);
    }
  }
  void run_line(const char* const* places, std::int64_t n) const {
    const void* const* const from = reinterpret_cast<const void* const*>(places);
    kernel_->run(from, const_cast<void* const*>(from + inputs_.size()), n);
  }

  std::optional<FormulaLine> kernel_;
  std::vector<MapFormula::Input> inputs_;
  std::vector<int> results_;
  std::int64_t line_ = 1, lines_ = 1;
  std::vector<std::int64_t> outer_, steps_;  // the latter in bytes
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
  if (const std::string problem = problem_of_formula(step); !problem.empty())
    throw Error("jit: a step " + problem);
  step.work = std::make_shared<const detail::FormulaWork>(step);
  const formula::Formula& f = step.formula->formula;
  // All of a packet is computed before any of it is written, but for what is read and handed on.
  step.in_place = std::none_of(f.results.begin(), f.results.end(), [&](int result) {
    return f.steps[static_cast<std::size_t>(result)].operation == formula::Operation::input;
  });
}

}  // namespace program
NAX_END
