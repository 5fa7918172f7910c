#pragma once

#include "nax/expr/expressions/formula.hpp"
#include "nax/formula/gradient.hpp"

NAX_BEGIN
namespace detail {

inline double number_at(const SymbolStep& step, const void* constants) {
  const char* const slot =
      static_cast<const char*>(constants) + static_cast<std::size_t>(step.slot) * constant_bytes;
  return formula::detail::with_stored(step.stored, [&]<class T>(T value) {
    std::memcpy(&value, slot, sizeof value);
    return static_cast<double>(value);
  });
}

// f(which step it is, its double's bits) for each number that is part of the formula, until one is false.
template <class F>
bool visit_known(const ExpressionSymbols& symbols, const void* constants, const F& f) {
  for (int i = 0; i < symbols.count && symbols.may_know; ++i) {
    const SymbolStep& step = symbols.steps[i];
    if (step.kind == SymbolStep::Kind::number && is_known(step, constants) &&
        !f(static_cast<std::uint64_t>(i), std::bit_cast<std::uint64_t>(number_at(step, constants))))
      return false;
  }
  return true;
}
NAX_ENGINE std::vector<std::uint64_t> known_numbers(const ExpressionSymbols& symbols, const void* constants) {
  std::vector<std::uint64_t> known;
  visit_known(symbols, constants, [&](std::uint64_t step, std::uint64_t bits) {
    known.insert(known.end(), {step, bits});
    return true;
  });
  return known;
}
NAX_ENGINE bool are_known(const ExpressionSymbols& symbols, const void* constants,
                          const std::vector<std::uint64_t>& numbers) {
  std::size_t next = 0;
  const bool all = visit_known(symbols, constants, [&](std::uint64_t step, std::uint64_t bits) {
    next += 2;
    return next <= numbers.size() && numbers[next - 2] == step && numbers[next - 1] == bits;
  });
  return all && next == numbers.size();
}

NAX_ENGINE bool is_known(const SymbolStep& number, const void* constants) {
  if (number.truth || number.use == NumberUse::known) return true;
  return number.use == NumberUse::if_exact &&
         formula::detail::has_exact_reciprocal(number_at(number, constants), lane_of(number.stored));
}

// Records an expression: its values, and what is pulled from the root to the inputs.
class SymbolWalk {
 public:
  SymbolWalk(const ExpressionSymbols& symbols, const void* constants, const short* inputs,
             FormulaOperands operands = FormulaOperands::lanes)
      : symbols_(symbols),
        constants_(constants),
        inputs_(inputs),
        stored_(operands == FormulaOperands::stored),
        recorder_(symbols.type) {
    for (int i = 0; i < symbols.count; ++i) {
      const int before = recorder_.size();
      made_.push_back(recorded(symbols.steps[i]));
      composed_.push_back(computed_since(before) > 1);
    }
  }
  // Whether a derivative reads the result of an operation that is several steps. The rule's derivative of
  // that result may be right in corners where those of its steps are not.
  bool reads_composed() const { return reads_composed_; }
  int value() { return as_result(made_.back()); }
  // As the expression's result is stored.
  int as_result(int x) { return stored_ ? recorder_.convert(x, symbols_.result) : x; }
  // A cotangent of the result: the formula's input of that number.
  int cotangent(int number) {
    if (!stored_) return recorder_.input(number);
    const int g = recorder_.input(number, symbols_.result);
    return root().truth ? is_not_zero(g) : g;
  }
  DType type_of_leaf(int l) const {
    for (int i = 0; i < symbols_.count; ++i)
      if (symbols_.steps[i].kind == SymbolStep::Kind::leaf && symbols_.steps[i].slot == l)
        return stored_ ? symbols_.steps[i].stored : symbols_.type;
    return symbols_.type;
  }
  // The share of a leaf, 0 where there is none.
  int share_or_zero(int share, int l) {
    const DType lane = lane_of(type_of_leaf(l));
    return share < 0 ? recorder_.constant(0, lane) : recorder_.convert(share, lane);
  }
  formula::Recorder& recorder() { return recorder_; }
  int inputs() const { return symbols_.leaves + symbols_.numbers; }

  // The sum of the shares in g of the leaves that are each input; -1 where none flows.
  std::vector<int> pull(int g) {
    const std::vector<int> of_leaves = pull_leaves(g);
    // In the order in which kernels add.
    std::vector<int> of_inputs(of_leaves.size(), -1);
    for (std::size_t l = 0; l < of_leaves.size(); ++l) {
      int& sum = of_inputs[static_cast<std::size_t>(inputs_[l])];
      sum = added(sum, of_leaves[l]);
    }
    return of_inputs;
  }
  // Either is -1 where there is none.
  int added(int sum, int term) {
    return sum < 0 ? term : term < 0 ? sum : recorder_.record(formula::Operation::add, {sum, term});
  }
  // The share of each leaf in g; -1 where none flows.
  std::vector<int> pull_leaves(int g) {
    std::vector<int> of_leaves(static_cast<std::size_t>(symbols_.leaves), -1);
    std::vector<int> cotangents(made_.size(), -1), alive(made_.size(), -1);  // everywhere
    cotangents.back() = g;
    if (root().may_multiply) alive.back() = is_not_zero(g);
    for (std::size_t i = made_.size(); i-- > 0;) {
      const SymbolStep& step = symbols_.steps[i];
      if (cotangents[i] < 0) continue;
      if (step.kind == SymbolStep::Kind::leaf) {
        int share = cotangents[i];
        if (alive[i] >= 0) share = recorder_.record(formula::Operation::unless_ended, {alive[i], share});
        of_leaves[static_cast<std::size_t>(step.slot)] = share;
      } else if (step.through != 0) {
        pull_step(step, i, cotangents, alive);
      }
    }
    return of_leaves;
  }
  formula::Formula finish(const std::vector<int>& results, int more_inputs) {
    formula::Formula f = recorder_.finish(results);
    f.inputs = inputs() + more_inputs;
    return f;
  }

 private:
  const SymbolStep& root() const { return symbols_.steps[symbols_.count - 1]; }
  int computed_since(int before) const {
    int count = 0;
    for (int at = before; at < recorder_.size(); ++at) count += recorder_.step(at).arity > 0;
    return count;
  }
  int is_not_zero(int x) {
    return recorder_.record(formula::Operation::not_equal,
                            {x, recorder_.constant(0, recorder_.step(x).type)});
  }
  int recorded(const SymbolStep& step) {
    if (step.kind == SymbolStep::Kind::operation) {
      int operands[SymbolStep::most_operands];
      list_operands(step, operands);
      return step.record(operands);
    }
    if (step.kind == SymbolStep::Kind::number && is_known(step, constants_)) {
      const double number = number_at(step, constants_);
      return step.truth ? recorder_.truth(number != 0)
                        : recorder_.constant(number, stored_ ? step.stored : symbols_.type);
    }
    const bool leaf = step.kind == SymbolStep::Kind::leaf;
    const int x = recorder_.input(leaf ? inputs_[step.slot] : symbols_.leaves + step.slot,
                                  stored_ ? step.stored : symbols_.type);
    return step.truth ? is_not_zero(x) : x;
  }
  void list_operands(const SymbolStep& step, int* to) const {
    for (int j = 0; j < SymbolStep::most_operands; ++j)
      to[j] = made_[static_cast<std::size_t>(step.operand[j])];
  }
  void pull_step(const SymbolStep& step, std::size_t i, std::vector<int>& cotangents,
                 std::vector<int>& alive) {
    int operands[SymbolStep::most_operands], shares[SymbolStep::most_operands];
    list_operands(step, operands);
    const int before = recorder_.size();
    step.pull(operands, cotangents[i], made_[i], shares);
    for (int at = before; composed_[i] && at < recorder_.size(); ++at)
      for (int j = 0; j < recorder_.step(at).arity; ++j)
        if (recorder_.step(at).operand[static_cast<std::size_t>(j)] == made_[i]) reads_composed_ = true;
    for (int j = 0; j < SymbolStep::most_operands; ++j) {
      if (!(step.through >> j & 1)) continue;
      const std::size_t x = static_cast<std::size_t>(step.operand[j]);
      cotangents[x] = shares[j];
      alive[x] = alive[i];
      if (!step.hands_on || !symbols_.steps[x].may_multiply) continue;
      const int flows = is_not_zero(shares[j]);
      alive[x] = alive[x] < 0 ? flows : recorder_.record(formula::Operation::both, {alive[x], flows});
    }
  }

  const ExpressionSymbols& symbols_;
  const void* constants_;
  const short* inputs_;
  bool stored_;
  formula::Recorder recorder_;
  std::vector<int> made_;
  std::vector<char> composed_;
  bool reads_composed_ = false;
};

NAX_ENGINE formula::Formula formula_of(const ExpressionSymbols& symbols, const void* constants,
                                       const short* inputs, FormulaOperands operands) {
  SymbolWalk walk(symbols, constants, inputs, operands);
  return walk.finish({walk.value()}, 0);
}

NAX_ENGINE formula::Formula pull_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned wanted, bool valued, bool* again) {
  SymbolWalk walk(symbols, constants, inputs);
  const std::vector<int> shares = walk.pull(walk.recorder().input(walk.inputs()));
  std::vector<int> results;
  for (int l = 0; l < symbols.leaves; ++l)
    if (wanted >> l & 1 && inputs[l] == l) {
      const int share = shares[static_cast<std::size_t>(l)];
      results.push_back(share < 0 ? walk.recorder().constant(0) : share);
    }
  if (valued) results.push_back(walk.value());
  if (again) *again = !walk.reads_composed();
  return walk.finish(results, 1);
}

NAX_ENGINE formula::Formula push_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned moving, bool* again,
                                            FormulaOperands operands) {
  SymbolWalk walk(symbols, constants, inputs, operands);
  const std::vector<int> derivatives = walk.pull(walk.recorder().constant(1));
  int tangent = -1, count = 0;
  for (int l = 0; l < symbols.leaves; ++l) {
    if (!(moving >> l & 1) || inputs[l] != l) continue;
    const int t = walk.recorder().input(walk.inputs() + count++, walk.type_of_leaf(l));
    if (const int derivative = derivatives[static_cast<std::size_t>(l)]; derivative >= 0)
      tangent = formula::tangent_sum(walk.recorder(), tangent, t, derivative);
  }
  if (tangent < 0) tangent = walk.recorder().constant(0);
  if (again) *again = !walk.reads_composed();
  return walk.finish({walk.as_result(tangent)}, count);
}

NAX_ENGINE void find_inputs(const ArrayBase* const* leaves, int count, short* inputs) {
  for (int l = 0; l < count; ++l) {
    inputs[l] = static_cast<short>(l);
    for (int k = 0; k < l && inputs[l] == l; ++k)
      if (raw_data(*leaves[k]) == raw_data(*leaves[l]) && leaves[k]->dtype() == leaves[l]->dtype() &&
          layout_of(*leaves[k]) == layout_of(*leaves[l]) &&
          layout_of(*leaves[k]).strides == layout_of(*leaves[l]).strides)
        inputs[l] = inputs[k];
  }
}

}  // namespace detail
NAX_END
