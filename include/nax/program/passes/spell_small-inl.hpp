#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "nax/formula/recorder.hpp"
#include "nax/ops/forms.hpp"
#include "nax/program/passes/spell_small.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/replay/formula_line.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/walks.hpp"

// Steps are carried out on symbols. `now_` has the value, a step of the formula, of each element of memory
// that the group has written or read; an element that is read before it is written is an input. At the
// group's end, elements that later steps or the program's results need are its results. Every input and
// result is an operand of one element, so that a replay hands its table of addresses to the code as it is.
NAX_BEGIN
namespace program::detail {

// A formula of single elements: all operands but the last `results` ones are its inputs, in order.
class ElementsWork final : public Work {
 public:
  ElementsWork(const formula::Formula& f)
      : inputs_(static_cast<std::size_t>(f.inputs)),
        line_(f, std::vector<std::int64_t>(inputs_ + f.results.size(), 1)) {}
  void run(void* const* at) const override { line_.run(at, at + inputs_, 1); }

 private:
  std::size_t inputs_;
  FormulaLine line_;
};

class SmallSteps {
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
      const bool small = is_small(s);
      const std::optional<DType> type = small ? type_of(s) : std::nullopt;
      if (!small || (type && type_ && *type != *type_) || is_full() || reads_what_is_written(s)) finish(i);
      if (!small) {
        kept_.push_back(std::move(steps_[i]));
        continue;
      }
      if (!type_ && type) type_ = type;
      group_.push_back(i);
      for (const Operand& x : s.operands)
        if (!x.written && x.place.slot >= 0 && written_in_[at(x.place.slot)] != number_) {
          if (read_in_[at(x.place.slot)] != number_) elements_ += size_of(x.shape);
          read_in_[at(x.place.slot)] = number_;
        }
      for (const Operand& x : s.operands)
        if (x.written) written_in_[at(x.place.slot)] = number_;
      weight_ += weight_of(s);
    }
    finish(steps_.size());
    steps_ = std::move(kept_);
  }

 private:
  static constexpr std::int64_t most_elements = 64;
  // Of one step, in operations on numbers; of a group; and of a group, for each step that it stands for.
  static constexpr std::int64_t most_of_step = 192, most_of_group = 2048, most_per_step = 96;
  static constexpr std::int64_t most_elements_of_group = 256;  // about: those read first
  static constexpr std::size_t least_steps = 3;
  using Element = std::pair<int, std::int64_t>;  // slot, offset in bytes

  // ---- which steps

  static bool is_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }
  static bool is_zeros(const Step& s) { return s.name == "zeros" && s.operands.size() == 1; }
  static bool is_copy(const Step& s) {
    return s.name == "copy" && s.operands.size() == 2 && s.operands[0].dtype == s.operands[1].dtype &&
           is_float(s.operands[0].dtype);
  }
  static bool is_product(const Step& s) { return s.product && is_float(s.product->dtype); }
  static bool has_formula(const Step& s) {
    if (!s.formula) return false;
    for (const Operand& x : s.operands)
      if (x.dtype != s.formula->formula.type) return false;
    return true;
  }
  bool is_small(const Step& s) const {
    if (s.unforeseen || s.checks || !s.work->programs().empty()) return false;
    for (const Operand& x : s.operands) {
      if (x.indexed != 0) return false;
      const std::int64_t n = size_of(x.shape);
      if (n == 0 || n > most_elements * (is_zeros(s) ? 8 : 1)) return false;
      // Constants of the program are numbers of the formula; what lies elsewhere is not.
      if (x.place.slot < 0 && x.written) return false;
    }
    if (is_zeros(s)) return zeros_fit(s, 4);
    if (!is_copy(s) && !is_product(s) && !has_formula(s)) return false;
    return weight_of(s) <= most_of_step;
  }
  static bool zeros_fit(const Step& s, std::int64_t size) {
    return s.operands[0].place.offset % size == 0 && size_of(s.operands[0].shape) % size == 0;
  }
  // None: zeros, whose bytes are those of every type.
  static std::optional<DType> type_of(const Step& s) {
    if (!is_zeros(s)) return s.operands[0].dtype;
    return zeros_fit(s, 8) ? std::nullopt : std::optional(DType::float32);
  }
  static std::int64_t weight_of(const Step& s) {
    if (is_product(s)) return static_cast<std::int64_t>(s.product->flops());
    if (!s.formula) return 0;
    std::int64_t computed = 0;
    for (const formula::Step& one : s.formula->formula.steps)
      computed += one.arity == 0 ? 0 : formula::is_written(one.operation) ? 12 : 1;
    return size_of(s.operands[0].shape) * (computed + static_cast<std::int64_t>(s.formula->reduced.size()));
  }

  // ---- groups

  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }
  bool is_full() const { return weight_ >= most_of_group || elements_ >= most_elements_of_group; }
  // Inputs keep their values until all is computed.
  bool reads_what_is_written(const Step& s) const {
    return std::any_of(s.operands.begin(), s.operands.end(),
                       [&](const Operand& x) { return x.written && read_in_[at(x.place.slot)] == number_; });
  }
  // One map over few elements, or maps that all have one shape, are better left to fuse_maps.
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
    group_.clear(), now_.clear(), inputs_.clear();
    type_.reset();
    weight_ = elements_ = 0;
    ++number_;
  }

  // ---- the formula

  bool write(std::size_t next) {
    formula::Recorder recorder(*type_);
    recorder_ = &recorder;
    size_ = static_cast<std::int64_t>(dtype_size(*type_));
    stored_.clear();
    for (const std::size_t i : group_) carry_out(steps_[i]);
    std::vector<int> values;
    std::vector<Operand> results;
    for (const auto& [element, value] : stored_) {
      const SlotUses& uses = graph_.uses(element.first);
      const bool is_read = !uses.readers.empty() && uses.readers.back() >= static_cast<int>(next);
      if (!is_read && !graph_.comes_out(element.first) &&
          slots_[static_cast<std::size_t>(element.first)].kind == Slot::Kind::temporary)
        continue;
      values.push_back(value);
      results.push_back(operand_of(element, true));
    }
    if (values.empty()) return true;  // the group is dead
    formula::Formula f = recorder.finish(values);
    Step made;
    made.name = "elements";
    f.inputs = 0;
    std::vector<int> places(inputs_.size(), -1);
    for (formula::Step& one : f.steps) {
      if (one.operation != formula::Operation::input) continue;
      int& place = places[one.detail];
      if (place < 0) {
        place = f.inputs++;
        made.operands.push_back(operand_of(inputs_[one.detail], false));
        made.operands.back().across = true;
      }
      one.detail = static_cast<std::uint64_t>(place);
    }
    if (static_cast<std::int64_t>(made.operands.size() + results.size()) > 4 * most_elements_of_group)
      return false;
    for (const Operand& x : made.operands)
      if (stored_.count({x.place.slot, x.place.offset}) > 0) return false;
    made.operands.insert(made.operands.end(), results.begin(), results.end());
    made.work = std::make_shared<const ElementsWork>(f);
    for (const std::size_t i : group_) made.flops += steps_[i].flops;
    kept_.push_back(std::move(made));
    return true;
  }
  Operand operand_of(const Element& element, bool written) const {
    return {{element.first, element.second}, written, *type_, Dims(), Dims()};
  }

  double number_at(const void* at) const {
    if (*type_ == DType::float64) {
      double value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    float value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  int read(const Place& place, std::int64_t elements) {
    const std::int64_t offset = place.offset + elements * size_;
    if (place.slot < 0)
      return recorder_->constant(
          number_at(reinterpret_cast<const void*>(static_cast<std::intptr_t>(offset))));
    const Slot& slot = slots_[static_cast<std::size_t>(place.slot)];
    if (slot.kind == Slot::Kind::constant)
      return recorder_->constant(number_at(static_cast<const char*>(slot.data) + offset));
    const auto [known, added] = now_.try_emplace({place.slot, offset}, -1);
    if (added) {
      known->second = recorder_->input(static_cast<int>(inputs_.size()));
      inputs_.push_back(known->first);
    }
    return known->second;
  }
  void store(const Place& place, std::int64_t elements, int value) {
    const Element element{place.slot, place.offset + elements * size_};
    now_[element] = value;
    stored_[element] = value;
  }
  // f(the elements' places in all operands), in the order of memory of row-major ones.
  template <class F>
  static void for_each(const Dims& shape, const std::vector<const Dims*>& strides, const F& f) {
    std::vector<std::int64_t> at(strides.size());
    for (std::int64_t i = 0, n = size_of(shape); i < n; ++i) {
      std::int64_t rest = i;
      std::fill(at.begin(), at.end(), 0);
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
        for (std::size_t o = 0; o < at.size(); ++o) at[o] += rest % shape[axis] * (*strides[o])[axis];
      f(at);
    }
  }

  void carry_out(const Step& s) {
    if (is_product(s)) return multiply(s);
    if (s.formula) return map(s);
    const Operand& to = s.operands.back();
    if (is_zeros(s)) {
      const int zero = recorder_->constant(0);
      for (std::int64_t i = 0; i < size_of(to.shape) / size_; ++i) store(to.place, i, zero);
      return;
    }
    std::vector<std::pair<std::int64_t, int>> values;
    for_each(to.shape, {&s.operands[0].strides, &to.strides}, [&](const std::vector<std::int64_t>& at) {
      values.push_back({at[1], read(s.operands[0].place, at[0])});
    });
    for (const auto& [at, value] : values) store(to.place, at, value);
  }
  void map(const Step& s) {
    using formula::Operation;
    const MapFormula& m = *s.formula;
    std::vector<const Dims*> strides;
    for (const Operand& x : s.operands) strides.push_back(&x.strides);
    struct Value {
      int operand;
      std::int64_t at;
      int value;
    };
    std::vector<Value> values;
    std::map<Element, int> sums;  // by operand and place
    for_each(s.operands[0].shape, strides, [&](const std::vector<std::int64_t>& at) {
      std::vector<int> own;
      for (formula::Step one : m.formula.steps) {
        if (one.operation == Operation::input) {
          const MapFormula::Input& from = m.inputs[one.detail];
          own.push_back(from.operand < 0 ? recorder_->constant(number_at(&from.number))
                                         : read(s.operands[static_cast<std::size_t>(from.operand)].place,
                                                at[static_cast<std::size_t>(from.operand)]));
          continue;
        }
        for (int j = 0; j < one.arity; ++j) {
          int& x = one.operand[static_cast<std::size_t>(j)];
          x = own[static_cast<std::size_t>(x)];
        }
        own.push_back(recorder_->record_step(one));
      }
      std::size_t k = 0;
      const auto value = [&] { return own[static_cast<std::size_t>(m.formula.results[k++])]; };
      for (const int result : m.results)
        values.push_back({result, at[static_cast<std::size_t>(result)], value()});
      for (const MapFormula::Reduced& r : m.reduced) {
        const auto [sum, first] =
            sums.try_emplace({r.operand, at[static_cast<std::size_t>(r.operand)]}, value());
        if (!first)
          sum->second = recorder_->record(
              joining(r.kind), {sum->second, own[static_cast<std::size_t>(m.formula.results[k - 1])]});
      }
    });
    for (const auto& [place, sum] : sums) values.push_back({place.first, place.second, sum});
    for (const Value& v : values) store(s.operands[static_cast<std::size_t>(v.operand)].place, v.at, v.value);
  }
  static formula::Operation joining(loops::ReduceKind kind) {
    switch (kind) {
      case loops::ReduceKind::product:
        return formula::Operation::multiply;
      case loops::ReduceKind::max:
        return formula::Operation::maximum;
      case loops::ReduceKind::min:
        return formula::Operation::minimum;
      default:
        return formula::Operation::add;
    }
  }
  void multiply(const Step& s) {
    const loops::Product& p = s.product->product;
    Dims shape;
    Dims strides[3];
    const auto add = [&](std::int64_t extent, std::int64_t a, std::int64_t b, std::int64_t c) {
      shape.push_back(extent);
      strides[0].push_back(a), strides[1].push_back(b), strides[2].push_back(c);
    };
    for (const loops::BatchAxis& one : s.product->axes) add(one.extent, one.a, one.b, one.summed ? 0 : one.c);
    add(p.m, p.a_row, 0, p.c_row), add(p.n, 0, p.b_column, p.c_column), add(p.k, p.a_column, p.b_row, 0);
    std::map<std::int64_t, int> sums;
    for_each(shape, {&strides[0], &strides[1], &strides[2]}, [&](const std::vector<std::int64_t>& at) {
      const int term = recorder_->record(
          formula::Operation::multiply, {read(s.operands[0].place, at[0]), read(s.operands[1].place, at[1])});
      const auto [sum, first] = sums.try_emplace(at[2], term);
      if (!first) sum->second = recorder_->record(formula::Operation::add, {sum->second, term});
    });
    for (const auto& [at, sum] : sums) store(s.operands[2].place, at, sum);
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const StepGraph graph_;
  std::vector<Step> kept_;

  std::vector<std::size_t> group_;
  int number_ = 1;  // of the group
  std::vector<int> read_in_,
      written_in_;  // by slot, the last group that reads it before it writes; writes it
  std::optional<DType> type_;
  std::int64_t weight_ = 0, elements_ = 0;

  formula::Recorder* recorder_ = nullptr;
  std::int64_t size_ = 0;
  std::map<Element, int> now_, stored_;
  std::vector<Element> inputs_;
};

NAX_ENGINE void spell_small(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results) {
  if (spells_small.load(std::memory_order_relaxed)) SmallSteps(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
