#pragma once

#include <algorithm>

#include "nax/program/reduce/flat_reduction.hpp"
#include "nax/program/reduce/line_reduction.hpp"
#include "nax/program/reduce/reduce_formula.hpp"
#include "nax/program/reduce/strided_reduction.hpp"

NAX_BEGIN
namespace program {
namespace detail {

inline bool is_flat(const Step& step) {
  return std::all_of(step.operands.begin(), step.operands.end(), [](const Operand& x) {
    return is_run(x.strides, x.shape) || is_repeated(x.strides, x.shape);
  });
}

}  // namespace detail

NAX_ENGINE bool reduces_by_formula(loops::ReduceKind kind, DType from, DType to) {
  using enum loops::ReduceKind;
  return from == to && (from == DType::float32 || from == DType::float64) &&
         (kind == sum || kind == product || kind == max || kind == min);
}

NAX_ENGINE void run_reductions(Step& step) {
  std::string problem = problem_of_formula(step);
  if (std::max(step.formula->inputs.size(), step.formula->formula.results.size()) > cpu::max_operands)
    problem = "reduces a formula of too many operands";
  if (!problem.empty()) throw Error("jit: a step " + problem);
  const detail::ReductionLoop loop(step);
  if (detail::is_flat(step))
    step.work = std::make_shared<const detail::FlatReduction>(step);
  else if (loop.reduces_lines())
    step.work = std::make_shared<const detail::LineReduction>(step, loop);
  else if (loop.joins_lines())
    step.work = std::make_shared<const detail::RowReduction>(step, loop);
  else
    step.work = std::make_shared<const detail::StridedReduction>(step);
}

}  // namespace program
NAX_END
