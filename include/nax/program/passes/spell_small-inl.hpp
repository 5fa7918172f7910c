#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/program/passes/element_symbols-inl.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/replay/map_formula.hpp"

// Groups of steps that compute with few elements become one step, whose formula has an operand for each
// element (element_symbols-inl.hpp): elements that later steps or the program's results need are its results.
NAX_BEGIN
namespace program::detail {

class SmallSteps : SmallStep {
 public:
  SmallSteps(const std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results)
      : slots_(slots),
        steps_(steps),
        graph_(slots, steps, results),
        read_in_(slots.size(), 0),
        written_in_(slots.size(), 0) {}

  void run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      std::int64_t lanes = lanes_of(s);
      if (!joins(s, lanes)) {
        const bool goes_before = lanes == 0 && !group_.empty() && is_independent(s);
        if (!goes_before) {
          finish(i);
          lanes = lanes_of(s);
        }
        if (lanes == 0) {
          kept_.push_back(std::move(steps_[i]));
          continue;
        }
      }
      if (!type_) type_ = type_of(s);
      lanes_ = lanes;
      group_.push_back(i);
      for (const Operand& x : s.operands)
        if (!x.written && x.place.slot >= 0 && written_in_[at(x.place.slot)] != number_) {
          if (read_in_[at(x.place.slot)] != number_) elements_ += size_of(x.shape) / lanes;
          read_in_[at(x.place.slot)] = number_;
        }
      for (const Operand& x : s.operands)
        if (x.written) written_in_[at(x.place.slot)] = number_;
      weight_ += weight_of(s, lanes);
    }
    finish(steps_.size());
    steps_ = std::move(kept_);
  }

 private:
  static constexpr std::int64_t most_elements = 64;
  // Of one step, in operations on numbers; of a group; and of a group, for each step that it stands for.
  static constexpr std::int64_t most_of_step = 192, most_of_group = 2048, most_per_step = 96;
  static constexpr std::int64_t most_elements_of_group = 256;  // about: those read first
  // Elements whose lanes do not lie side by side are moved one by one: so many operations must go with each.
  static constexpr std::int64_t least_per_element = 8;
  static constexpr std::int64_t most_rows = 6;  // of a linear system
  static constexpr std::size_t least_steps = 3;

  // ---- which steps

  // None: zeros, whose bytes are those of every type.
  static std::optional<DType> type_of(const Step& s) {
    if (!is_zeros(s)) return s.operands[0].dtype;
    return zeros_fit(s, 8) ? std::nullopt : std::optional(DType::float32);
  }
  static bool zeros_fit(const Step& s, std::int64_t size) {
    return s.operands[0].place.offset % size == 0 && size_of(s.operands[0].shape) % size == 0;
  }

  // How many lanes a step has: 1 if all its arrays are small, the extent of the first axis if they are small
  // but for it, 0 if it stays a step.
  std::int64_t lanes_of(const Step& s) const {
    if (s.unforeseen || s.checks || !s.work->programs().empty()) return 0;
    for (const Operand& x : s.operands)
      if (x.indexed != 0 || size_of(x.shape) == 0 || (x.written && x.place.slot < 0)) return 0;
    if (is_zeros(s)) return lanes_of_zeros(s);
    if (const loops::LinearSystems* const f = systems_of(s))
      return f->batches.size() > 1 ? 0 : lanes_of_matrices(f->n, f->m, f->count());
    if (const loops::Factoring* const f = determinants_of(s)) return lanes_of_matrices(f->n, 1, f->batch);
    if (!is_copy(s) && !is_product(s) && !has_formula(s)) return 0;
    const auto is_small = [&](std::int64_t lanes) {
      return weight_of(s, lanes) <= most_of_step &&
             std::all_of(s.operands.begin(), s.operands.end(),
                         [&](const Operand& x) { return size_of(x.shape) <= most_elements * lanes; });
    };
    if (std::all_of(s.operands.begin(), s.operands.end(),
                    [](const Operand& x) { return size_of(x.shape) <= most_elements; }))
      return is_small(1) ? 1 : 0;
    std::int64_t lanes = s.operands.back().shape[0];
    if (is_product(s)) {
      if (!group_.empty() && lanes_ > 1 && product_over(s, lanes_)) lanes = lanes_;
      if (lanes == 1 || !product_over(s, lanes)) return 0;
    } else if (!std::all_of(s.operands.begin(), s.operands.end(), [&](const Operand& x) {
                 return x.shape[0] == lanes && (!x.written || x.strides[0] != 0);
               })) {
      return 0;
    }
    return is_small(lanes) ? lanes : 0;
  }
  // Of so many matrices (n, n), with (n, m) beside them.
  static std::int64_t lanes_of_matrices(std::int64_t n, std::int64_t m, std::int64_t count) {
    if (n > most_rows || m > most_rows || n == 0) return 0;
    return count * n * n <= most_elements ? 1 : count;
  }
  // Gives zeros the lanes of the group where they are whole rows.
  std::int64_t lanes_of_zeros(const Step& s) const {
    const std::int64_t bytes = size_of(s.operands[0].shape), lanes = group_.empty() ? 1 : lanes_;
    if (lanes == 1) return zeros_fit(s, 4) && bytes <= 8 * most_elements ? 1 : 0;
    const std::int64_t size = static_cast<std::int64_t>(dtype_size(*type_));
    return s.operands[0].place.offset == 0 && bytes % (lanes * size) == 0 &&
                   bytes <= most_elements * lanes * size
               ? lanes
               : 0;
  }

  // ---- groups

  bool joins(const Step& s, std::int64_t lanes) const {
    if (lanes == 0) return false;
    if (group_.empty()) return true;
    const std::optional<DType> type = type_of(s);
    if (lanes != lanes_ || (type && type_ && *type != *type_) || weight_ >= most_of_group ||
        elements_ >= most_elements_of_group)
      return false;
    // Inputs keep their values until all is computed.
    return std::none_of(s.operands.begin(), s.operands.end(),
                        [&](const Operand& x) { return x.written && read_in_[at(x.place.slot)] == number_; });
  }
  // May the step run before the group?
  bool is_independent(const Step& s) const {
    return !s.checks && std::none_of(s.operands.begin(), s.operands.end(), [&](const Operand& x) {
      return x.place.slot >= 0 && (written_in_[at(x.place.slot)] == number_ ||
                                   (x.written && read_in_[at(x.place.slot)] == number_));
    });
  }
  // Maps that all have one shape are better left to fuse_maps.
  bool pays() const {
    if (group_.size() < least_steps || !type_ ||
        weight_ > most_per_step * static_cast<std::int64_t>(group_.size()))
      return false;
    const Dims& shape = steps_[group_[0]].operands[0].shape;
    return std::any_of(group_.begin(), group_.end(), [&](std::size_t i) {
      const Step& s = steps_[i];
      return !s.formula || !s.formula->reduced.empty() || !(s.operands[0].shape == shape);
    });
  }
  void finish(std::size_t next) {
    if (!pays() || !write(next))
      for (const std::size_t i : group_) kept_.push_back(std::move(steps_[i]));
    group_.clear();
    type_.reset();
    weight_ = elements_ = 0;
    ++number_;
  }

  // ---- the formula

  bool write(std::size_t next) {
    ElementSymbols symbols(slots_, *type_, lanes_);
    for (const std::size_t i : group_) symbols.carry_out(steps_[i]);
    const auto made = symbols.finish([&](int slot) {
      const SlotUses& uses = graph_.uses(slot);
      return (!uses.readers.empty() && uses.readers.back() >= static_cast<int>(next)) ||
             graph_.comes_out(slot) || slots_[at(slot)].kind != Slot::Kind::temporary;
    });
    if (!made) return false;
    if (made->operands.empty()) return true;  // the group is dead
    const std::int64_t count = static_cast<std::int64_t>(made->operands.size());
    if (count > 4 * most_elements_of_group || (lanes_ > 1 && weight_ < least_per_element * count))
      return false;
    std::vector<std::int64_t> strides;
    for (const Operand& x : made->operands) strides.push_back(lanes_ == 1 ? 1 : x.strides[0]);
    Step step;
    step.name = "elements";
    step.operands = made->operands;
    const std::int64_t grain = 4 * cpu::detail::parallel_grain / std::ssize(made->formula.steps);
    step.work = std::make_shared<const FormulaWork>(made->formula, strides, lanes_,
                                                    std::max<std::int64_t>(64, grain));
    for (const std::size_t i : group_) step.flops += steps_[i].flops;
    kept_.push_back(std::move(step));
    return true;
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const StepGraph graph_;
  std::vector<Step> kept_;

  std::vector<std::size_t> group_;
  int number_ = 1;  // of the group
  // By slot, the last group that reads it before it writes it; that writes it.
  std::vector<int> read_in_, written_in_;
  std::optional<DType> type_;
  std::int64_t lanes_ = 1, weight_ = 0, elements_ = 0;
};

NAX_ENGINE void spell_small(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results) {
  if (spells_small.load(std::memory_order_relaxed)) SmallSteps(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
