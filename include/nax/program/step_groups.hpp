#pragma once

#include <algorithm>
#include <numeric>

#include "nax/program/formula_writer.hpp"
#include "nax/program/group_order.hpp"
#include "nax/program/reduce_formula.hpp"
#include "nax/program/step_group.hpp"

// A group is a set of steps that will be one. Groups start as single steps, and those of maps are joined
// where one reads what another writes, or both read the same, as long as
//   - they walk the same elements: their shapes are equal, or one of them walks an unbroken run of that size;
//   - no third group must run between them;
//   - the joined formula stays within the limits below.
// With reductions, steps that reduce what a formula gives are joined with others, and maps alone are not.
// Each slot that a map writes has one writer, and what a map reads is complete before it.
NAX_BEGIN
namespace program::detail {

class StepGroups {
 public:
  StepGroups(const std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results,
             bool reductions)
      : slots_(slots),
        steps_(steps),
        graph_(slots, steps, results),
        reductions_(reductions),
        order_(steps.size()) {
    group_of_.resize(steps.size());
    std::iota(group_of_.begin(), group_of_.end(), 0);
    for (std::size_t i = 0; i < steps.size(); ++i)
      groups_.push_back(group_of_step(graph_, slots, steps[i], static_cast<int>(i), reductions));
  }

  void run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!groups_[i].is_map) continue;
      for (const bool producers : {true, false})
        for (const int other : neighbours(static_cast<int>(i), producers))
          try_join(root(other), root(static_cast<int>(i)));
    }
    emit_all();
  }

 private:
  // Weights of formulas. Measured: a loop of several functions is a longer chain of operations that wait for
  // one another, and slower than loops of one each where arrays are in the caches. Short loops have only
  // the chain. A few additions and products join any loop.
  static constexpr std::size_t most_weight = 63, most_weight_of_short = 1024, most_weight_of_small = 8;
  static constexpr std::int64_t short_loop = 64, short_line = 512;
  static constexpr std::size_t most_operands = 20, most_summed = 12;

  const SlotUses& uses(int slot) const { return graph_.uses(slot); }
  int root(int step) const { return group_of_[static_cast<std::size_t>(step)]; }
  Group& group(int g) { return groups_[static_cast<std::size_t>(g)]; }
  const Step& step(int i) const { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& step, int o) {
    return step.operands[static_cast<std::size_t>(o)];
  }

  // ---- joining

  // Groups that write what step i reads, or read what it reads, the latest first.
  std::vector<int> neighbours(int i, bool producers) const {
    std::vector<int> found;
    const Step& s = step(i);
    const Dims& shape = s.operands[0].shape;
    for (const MapFormula::Input& input : s.formula->inputs) {
      if (input.operand < 0) continue;
      const Operand& x = operand(s, input.operand);
      if (x.place.slot < 0 || !is_run(x.strides, shape)) continue;
      for (const int other : producers ? uses(x.place.slot).writers : uses(x.place.slot).readers)
        if (other < i && step(other).formula && reads_or_writes_run(other, x)) found.push_back(other);
    }
    std::sort(found.rbegin(), found.rend());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() > 8) found.resize(8);
    return found;
  }
  bool reads_or_writes_run(int i, const Operand& x) const {
    for (const Operand& y : step(i).operands)
      if (y.place == x.place && y.dtype == x.dtype && is_run(y.strides, y.shape)) return true;
    return false;
  }

  void try_join(int a, int b) {
    if (a == b || !group(a).is_map || !group(b).is_map) return;
    Group &x = group(a), &y = group(b);
    if (x.type != y.type || size_of(x.shape) != size_of(y.shape)) return;
    if (x.shape != y.shape && !x.is_flat && !y.is_flat) return;
    if (reductions_ && x.reduced + y.reduced == 0) return;
    const std::size_t most = size_of(x.shape) <= short_loop ? most_weight_of_short : most_weight;
    if (!reductions_ && x.weight + y.weight > most && std::min(x.weight, y.weight) > most_weight_of_small)
      return;
    const bool in_order = order_.is_before(a, b);
    const int first = in_order ? a : b, second = in_order ? b : a;
    if (is_between(first, second)) return;
    Group joined = x;
    joined.members.insert(joined.members.end(), y.members.begin(), y.members.end());
    std::sort(joined.members.begin(), joined.members.end());
    joined.weight += y.weight;
    joined.is_flat = x.is_flat && y.is_flat;
    joined.reduced += y.reduced;
    joined.only_sums = x.only_sums && y.only_sums;
    if (x.is_flat && !y.is_flat) joined.shape = y.shape;
    if (!fits(joined, a, b) || !reads_whole(joined, a, b)) return;
    if (joined.weight > most) {  // by what both compute they may weigh less
      const std::size_t before = std::max(x.weight, y.weight);
      joined.weight = weight_of(joined_formula(joined, a, b));
      if (joined.weight > std::max(most, before + before / 4)) return;
    }
    order_.join(first, second, a, [&](int g, const std::vector<char>& in) {
      bool found = false;
      for_each_needed(g, [&](int other) { found = found || in[static_cast<std::size_t>(other)]; });
      return found;
    });
    for (const int member : y.members) group_of_[static_cast<std::size_t>(member)] = a;
    x = std::move(joined);
    y = Group();
  }
  // Whether members read the results of others element by element, and not by another way.
  bool reads_whole(const Group& joined, int a, int b) const {
    for (const int member : joined.members)
      for (const MapFormula::Input& input : step(member).formula->inputs) {
        if (input.operand < 0) continue;
        const Operand& x = operand(step(member), input.operand);
        if (x.place.slot < 0) continue;
        const std::vector<int>& writers = uses(x.place.slot).writers;
        if (writers.empty() || (root(writers[0]) != a && root(writers[0]) != b)) continue;
        if (x.place.offset != 0 || !is_run(x.strides, x.shape) || size_of(x.shape) != size_of(joined.shape))
          return false;
      }
    return true;
  }
  // f(each group that must run before group g), some of them several times.
  template <class F>
  void for_each_needed(int g, const F& f) {
    for (const int member : group(g).members)
      for (const Operand& x : step(member).operands) {
        if (x.place.slot < 0) continue;
        const auto see = [&](int other) {
          if (other < member && root(other) != g) f(root(other));
        };
        for (const int other : uses(x.place.slot).writers) see(other);
        if (x.written)
          for (const int other : uses(x.place.slot).readers) see(other);
      }
  }
  // Must some other group run after the first of these and before the second?
  bool is_between(int first, int second) {
    std::vector<int> todo;
    seen_.assign(steps_.size(), 0);
    bool found = false;
    const auto visit = [&](int g) {
      for_each_needed(g, [&](int other) {
        if (other == first) {
          found = found || g != second;
        } else if (!seen_[static_cast<std::size_t>(other)] && order_.is_before(first, other)) {
          seen_[static_cast<std::size_t>(other)] = 1;
          todo.push_back(other);
        }
      });
    };
    visit(second);
    while (!found && !todo.empty()) {
      const int g = todo.back();
      todo.pop_back();
      visit(g);
    }
    return found;
  }
  bool is_needed_outside(int slot, int a, int b) const {
    if (graph_.comes_out(slot)) return true;
    for (const int reader : uses(slot).readers)
      if (root(reader) != a && root(reader) != b) return true;
    return false;
  }
  bool fits(const Group& joined, int a, int b) const {
    std::size_t written = 0;
    std::vector<Walked> read;
    for (const int member : joined.members) {
      const Step& s = step(member);
      for (const int result : s.formula->results)
        written += is_needed_outside(operand(s, result).place.slot, a, b);
      for (const MapFormula::Input& input : s.formula->inputs) {
        if (input.operand < 0) continue;
        const Operand& x = operand(s, input.operand);
        if (x.place.slot >= 0) {
          const std::vector<int>& writers = uses(x.place.slot).writers;
          if (!writers.empty() && (root(writers[0]) == a || root(writers[0]) == b)) continue;
        }
        Walked walked = walk(joined.shape, x);
        if (std::find(read.begin(), read.end(), walked) == read.end()) read.push_back(std::move(walked));
      }
    }
    if (joined.reduced > MapFormula::most_reduced) return false;
    written += joined.reduced;
    // Measured: short lines of one function are faster by its compiled kernel, tile by tile.
    if (joined.reduced == 1 && written == 1 && !joined.is_flat && joined.members.size() == 2 &&
        joined.weight >= function_weight && joined.shape[joined.shape.size() - 1] < short_line)
      return false;
    if (joined.reduced > 0 && !joined.is_flat && written > 1 &&
        (!joined.only_sums || std::max(read.size(), written) > most_summed))
      return false;
    return written <= MapFormula::most_results && written + read.size() <= most_operands;
  }
  // ---- the joined steps

  void emit_all() {
    std::vector<char> done(steps_.size(), 0);
    std::vector<Step> made;
    for (std::size_t i = 0; i < steps_.size(); ++i) emit(root(static_cast<int>(i)), done, made);
    steps_ = std::move(made);
  }
  // With the groups before it, without recursion: chains are long.
  void emit(int wanted, std::vector<char>& done, std::vector<Step>& made) {
    std::vector<int> todo = {wanted};
    while (!todo.empty()) {
      const int g = todo.back();
      if (done[static_cast<std::size_t>(g)]) {
        todo.pop_back();
        continue;
      }
      const std::size_t before = todo.size();
      for_each_needed(g, [&](int other) {
        if (!done[static_cast<std::size_t>(other)]) todo.push_back(other);
      });
      if (todo.size() > before) continue;
      todo.pop_back();
      done[static_cast<std::size_t>(g)] = 1;
      made.push_back(runs_by_formula(group(g)) ? joined_step(g) : step(group(g).members[0]));
    }
  }

  // Several steps, a map that its numbers make much simpler, or a reduction of an expression to one number,
  // which costs less so.
  bool runs_by_formula(const Group& g) const {
    if (g.members.size() > 1) return true;
    if (g.is_map && g.reduced == 0) return is_simpler_with_numbers(g);
    return g.reduced == 1 && g.is_flat && size_of(g.shape) <= cpu::detail::parallel_grain &&
           step(g.members[0]).formula->formula.steps.size() > 1;
  }
  // Cotangents that are known not to be zero leave nothing to choose. Measured: a Hessian times a vector
  // takes a third of the time.
  bool is_simpler_with_numbers(const Group& g) const {
    const Step& s = step(g.members[0]);
    const auto count = [](const formula::Formula& f) {
      return std::count_if(f.steps.begin(), f.steps.end(), [](const formula::Step& one) {
        return one.operation != formula::Operation::input && one.operation != formula::Operation::constant;
      });
    };
    constexpr std::ptrdiff_t least_saved = 8;
    if (count(s.formula->formula) <= least_saved) return false;
    const Step folded = written_anew(slots_, s, [](int) { return true; });
    return count(folded.formula->formula) + least_saved <= count(s.formula->formula);
  }
  formula::Formula joined_formula(const Group& g, int a, int b) const {
    FormulaWriter writer(slots_, g.type, g.shape);
    for (const int member : g.members) writer.add(step(member));
    return writer.finish([&](int slot) { return is_needed_outside(slot, a, b); }).formula->formula;
  }
  Step joined_step(int g) {
    FormulaWriter writer(slots_, group(g).type, group(g).shape);
    std::string names;
    for (const int member : group(g).members) {
      writer.add(step(member));
      const std::string& name = step(member).name;
      const bool joined = name.starts_with("fused{");
      names += (names.empty() ? "" : " ") + (joined ? name.substr(6, name.size() - 7) : name);
    }
    Step s = writer.finish([&](int slot) { return is_needed_outside(slot, g, g); });
    s.name = group(g).members.size() > 1 ? "fused{" + names + "}" : names;
    if (s.formula->reduced.empty())
      run_by_formula(s);
    else
      run_reductions(s);
    return s;
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const StepGraph graph_;
  const bool reductions_;
  GroupOrder order_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;
  std::vector<char> seen_;
};

}  // namespace program::detail
NAX_END
