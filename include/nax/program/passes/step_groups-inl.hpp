#pragma once

#include <algorithm>
#include <numeric>

#include "nax/program/passes/formula_writer.hpp"
#include "nax/program/passes/group_order.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_group.hpp"

// A group is a set of steps that will be one. Groups start as single steps, and those of maps are joined
// where one reads what another writes, or both read the same, as long as
//   - they walk the same elements: their shapes are equal, or one of them walks an unbroken run of that size;
//   - no third group must run between them;
//   - the joined formula stays within the limits below, which bound the work for each step, too.
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
        order_(steps.size()),
        outside_(slots.size()),
        seen_(steps.size()) {
    group_of_.resize(steps.size());
    std::iota(group_of_.begin(), group_of_.end(), 0);
    for (std::size_t i = 0; i < steps.size(); ++i)
      groups_.push_back(group_of_step(graph_, slots, steps[i], static_cast<int>(i), reductions));
    for (std::size_t slot = 0; slot < slots.size(); ++slot)
      outside_[slot] = static_cast<int>(uses(static_cast<int>(slot)).readers.size());
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
  // the chain. A few additions and products join any loop that is not much heavier than it may be.
  static constexpr std::size_t most_weight = 63, most_weight_of_short = 1024, most_weight_of_small = 8;
  static constexpr std::int64_t short_loop = 64, short_line = 512;
  static constexpr std::size_t most_operands = 20, most_written = 16, most_summed = 12;
  // Bounds of the work for one step, which only long programs meet: how many neighbours are tried, how far
  // apart groups may lie that are joined, how many groups are looked at between them.
  static constexpr std::size_t most_neighbours = 8, least_long = 16;
  static constexpr int most_distance = 1024, most_between = 256;

  const SlotUses& uses(int slot) const { return graph_.uses(slot); }
  int root(int step) const { return group_of_[static_cast<std::size_t>(step)]; }
  Group& group(int g) { return groups_[static_cast<std::size_t>(g)]; }
  const Group& group(int g) const { return groups_[static_cast<std::size_t>(g)]; }
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
      const std::vector<int>& all = producers ? uses(x.place.slot).writers : uses(x.place.slot).readers;
      std::size_t at = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), i) - all.begin());
      for (std::size_t tried = 0, taken = 0; at > 0 && tried < 8 * most_neighbours && taken < most_neighbours;
           ++tried) {
        const int other = all[--at];
        if (!step(other).formula || !reads_or_writes_run(other, x)) continue;
        found.push_back(other);
        ++taken;
      }
    }
    std::sort(found.rbegin(), found.rend());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() > most_neighbours) found.resize(most_neighbours);
    return found;
  }
  bool reads_or_writes_run(int i, const Operand& x) const {
    for (const Operand& y : step(i).operands)
      if (y.place == x.place && y.dtype == x.dtype && is_run(y.strides, y.shape)) return true;
    return false;
  }

  void try_join(int a, int b) {
    if (a == b || !group(a).is_map || !group(b).is_map) return;
    const Group &x = group(a), &y = group(b);
    if (size_of(x.shape) != size_of(y.shape)) return;
    if (reductions_ && (x.type != y.type || x.type == formula::Formula::mixed)) return;
    if (x.shape != y.shape && !x.is_flat && !y.is_flat) return;
    if (reductions_ && x.reduced + y.reduced == 0) return;
    const std::size_t most = size_of(x.shape) <= short_loop ? most_weight_of_short : most_weight;
    if (!reductions_ && x.weight + y.weight > most && std::min(x.weight, y.weight) > most_weight_of_small)
      return;
    const bool in_order = order_.is_before(a, b);
    const int first = in_order ? a : b, second = in_order ? b : a;
    if (order_.distance(first, second) > most_distance) return;
    Group joined = joined_facts(a, b);
    if (!fits(joined, x.members.size() + y.members.size()) || !reads_whole(joined, x, b) ||
        !reads_whole(joined, y, a) || is_between(first, second))
      return;
    if (joined.weight > most) {  // by what both compute they may weigh less
      const std::size_t members = x.members.size() + y.members.size(),
                        weighed = std::max(x.weighed, y.weighed);
      // (Writing long formulas takes long: only after they have grown.)
      if (members > least_long && members < weighed + weighed / 4) return;
      joined.weighed = members;
      joined.weight = weight_of(joined_formula(joined, a, b));
      if (joined.weight > std::max(most + most / 4, joined.heaviest + joined.heaviest / 4)) {
        for (const int g : {a, b}) group(g).weighed = group(g).members.size();
        return;
      }
    } else {
      joined.weighed = std::max(x.weighed, y.weighed);
    }
    // The one with more members takes the other's.
    const bool keeps_a = x.members.size() >= y.members.size();
    const int kept = keeps_a ? a : b, gone = keeps_a ? b : a;
    joined.needs = needs_of_both(a, b);
    order_.join(first, second, kept, [&](int g, const Marks& in) {
      bool found = false;
      for_each_needed(g, [&](int other) { found = found || in.has(other); });
      return found;
    });
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
      for (const Group::SlotRead& read : group(from).slots)
        if (is_written_by(read.slot, to)) outside_[static_cast<std::size_t>(read.slot)] -= read.readers;
    joined.members = std::move(group(kept).members);
    for (const int member : group(gone).members) {
      group_of_[static_cast<std::size_t>(member)] = kept;
      joined.members.push_back(member);
    }
    group(kept) = std::move(joined);
    group(gone) = Group();
  }
  bool is_written_by(int slot, int g) const {
    return slot >= 0 && !uses(slot).writers.empty() && root(uses(slot).writers[0]) == g;
  }
  // Of both groups as one, without members and needs.
  Group joined_facts(int a, int b) const {
    const Group &x = group(a), &y = group(b);
    Group joined;
    joined.is_map = true;
    joined.is_flat = x.is_flat && y.is_flat;
    joined.type = x.type == y.type ? x.type : formula::Formula::mixed;
    joined.shape = x.is_flat && !y.is_flat ? y.shape : x.shape;
    joined.weight = x.weight + y.weight;
    joined.heaviest = std::max(x.heaviest, y.heaviest);
    joined.reduced = x.reduced + y.reduced;
    joined.only_sums = x.only_sums && y.only_sums;
    joined.written = x.written + y.written;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      for (const Group::Read& read : group(from).reads)
        if (!is_written_by(read.walked.place.slot, to))
          add_read(joined, group(from).shape == joined.shape
                               ? read
                               : Group::Read{walk(joined.shape, *read.operand), read.operand});
      for (const Group::SlotRead& read : group(from).slots)
        if (!is_written_by(read.slot, to))
          add_slot(joined, read, true);
        else if (outside_[static_cast<std::size_t>(read.slot)] == read.readers &&
                 !graph_.comes_out(read.slot) && is_result(read.slot))
          --joined.written;
    }
    return joined;
  }
  // Does the map that writes the slot reduce nothing to it?
  bool is_result(int slot) const {
    const Step& s = step(uses(slot).writers[0]);
    return std::any_of(s.formula->results.begin(), s.formula->results.end(),
                       [&](int result) { return operand(s, result).place.slot == slot; });
  }
  // Whether x reads the results of group g element by element, and not by another way.
  bool reads_whole(const Group& joined, const Group& x, int g) const {
    return std::all_of(x.reads.begin(), x.reads.end(), [&](const Group::Read& read) {
      const Operand& from = *read.operand;
      return !is_written_by(from.place.slot, g) ||
             (from.place.offset == 0 && from.dtype == dtype_in(from.place.slot) &&
              is_run(from.strides, from.shape) && size_of(from.shape) == size_of(joined.shape));
    });
  }
  // The type as which its only writer writes the slot.
  DType dtype_in(int slot) const {
    for (const Operand& x : step(uses(slot).writers[0]).operands)
      if (x.written && x.place.slot == slot) return x.dtype;
    return {};
  }
  std::vector<int> needs_of_both(int a, int b) {
    std::vector<int> needs;
    for (const int g : {a, b})
      for_each_needed(g, [&](int other) {
        if (other != a && other != b) needs.push_back(other);
      });
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    // Members stay in their group, so one stands for it.
    for (int& g : needs) g = group(g).members[0];
    return needs;
  }
  // f(each group that must run before group g), some of them several times.
  template <class F>
  void for_each_needed(int g, const F& f) {
    if (group(g).members.size() > 1) {
      for (const int other : group(g).needs) f(root(other));
      return;
    }
    const int member = group(g).members[0];
    for (const Operand& x : step(member).operands) {
      if (x.place.slot < 0) continue;
      // The last writer before it needs all that came before that.
      const auto& [writers, readers] = uses(x.place.slot);
      const auto next = std::lower_bound(writers.begin(), writers.end(), member);
      const int last = next == writers.begin() ? -1 : *std::prev(next);
      if (last >= 0) f(root(last));
      if (!x.written) continue;
      for (auto r = std::upper_bound(readers.begin(), readers.end(), last); r != readers.end() && *r < member;
           ++r)
        f(root(*r));
    }
  }
  // Must some other group run after the first of these and before the second? True also where that takes long
  // to find out.
  bool is_between(int first, int second) {
    std::vector<int> todo;
    seen_.clear();
    int looked_at = 0;
    bool found = false;
    const auto visit = [&](int g) {
      for_each_needed(g, [&](int other) {
        if (other == first)
          found = found || g != second;
        else if (order_.is_before(first, other) && seen_.add(other))
          todo.push_back(other);
      });
    };
    visit(second);
    while (!found && !todo.empty()) {
      if (++looked_at > most_between) return true;
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
  bool fits(const Group& joined, std::size_t members) const {
    if (joined.reduced > MapFormula::most_reduced) return false;
    const std::size_t written = joined.written + joined.reduced, read = joined.reads.size();
    // Measured: short lines of one function are faster by its compiled kernel, tile by tile.
    if (joined.reduced == 1 && written == 1 && !joined.is_flat && members == 2 &&
        joined.weight >= function_weight && joined.shape[joined.shape.size() - 1] < short_line)
      return false;
    if (joined.reduced > 0 && !joined.is_flat && written > 1 &&
        (!joined.only_sums || std::max(read, written) > most_summed))
      return false;
    return written <= most_written && written + read <= most_operands;
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
      made.push_back(runs_by_formula(group(g))
                         ? joined_step(g)
                         : std::move(steps_[static_cast<std::size_t>(group(g).members[0])]));
    }
  }

  // Of other types than float and double: compiled kernels convert tile by tile, or go element by element.
  bool is_faster_by_code(const Group& g) const {
    return g.type == formula::Formula::mixed &&
           formula::kernel_of(step(g.members[0]).formula->formula)->is_machine_code();
  }
  // Several steps, one that machine code serves better, a map that its numbers make much simpler, or a
  // reduction of an expression to one number, which costs less so.
  bool runs_by_formula(const Group& g) const {
    if (g.members.size() > 1) return true;
    if (g.is_map && g.reduced == 0) return is_faster_by_code(g) || is_simpler_with_numbers(g);
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
  std::vector<int> in_order(std::initializer_list<int> groups) const {
    std::vector<int> members;
    for (const int g : groups)
      members.insert(members.end(), group(g).members.begin(), group(g).members.end());
    std::sort(members.begin(), members.end());
    return members;
  }
  formula::Formula joined_formula(const Group& g, int a, int b) const {
    FormulaWriter writer(slots_, g.shape);
    for (const int member : in_order({a, b})) writer.add(step(member));
    return writer.finish([&](int slot) { return is_needed_outside(slot, a, b); }).formula->formula;
  }
  Step joined_step(int g) {
    FormulaWriter writer(slots_, group(g).shape);
    std::string names;
    for (const int member : in_order({g})) {
      writer.add(step(member));
      const std::string& name = step(member).name;
      const bool joined = name.starts_with("fused{");
      names += (names.empty() ? "" : " ") + (joined ? name.substr(6, name.size() - 7) : name);
    }
    Step s = writer.finish([&](int slot) { return is_needed_outside(slot, g, g); });
    s.name = group(g).members.size() > 1 ? "fused{" + names + "}" : step(group(g).members[0]).name;
    run_by_formula(s);
    return s;
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const StepGraph graph_;
  const bool reductions_;
  GroupOrder order_;
  std::vector<Group> groups_;
  std::vector<int> group_of_, outside_;  // of slots: how many steps read them outside of their writer's group
  Marks seen_;
};

NAX_ENGINE void fuse_maps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                          const std::vector<int>& results) {
  StepGroups(slots, steps, results, false).run();
}

NAX_ENGINE void fuse_reductions(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results) {
  StepGroups(slots, steps, results, true).run();
}

}  // namespace program::detail
NAX_END
