#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "nax/backend/cpu/elementwise.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/formula/recorder.hpp"
#include "nax/ops/forms.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/call_work.hpp"
#include "nax/program/replay/formula_line.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/walks.hpp"

// Steps are carried out on symbols. `now_` has the value, a step of the formula, of each element of memory
// that the group has written or read; an element that is read before it is written is an input. At the
// group's end, elements that later steps or the program's results need are its results. Every input and
// result is an operand of its own, so that a replay hands its table of addresses to the code as it is.
//
// Where arrays have a first axis more, as under vmap, elements stand for runs along it: lanes of the formula.
// Of one slot, all elements then have one stride between lanes.
NAX_BEGIN
namespace program::detail {

// A formula of elements, or of as many lanes of each: operands are its inputs, then its results.
class ElementsWork final : public Work {
 public:
  // `strides`: between lanes, in elements.
  ElementsWork(const formula::Formula& f, const std::vector<std::int64_t>& strides, std::int64_t lanes)
      : inputs_(static_cast<std::size_t>(f.inputs)),
        lanes_(lanes),
        grain_(std::max<std::int64_t>(
            64, 4 * cpu::detail::parallel_grain / static_cast<std::int64_t>(1 + f.steps.size()))),
        line_(f, strides) {}
  void run(void* const* at) const override {
    if (lanes_ <= grain_) return line_.run(at, at + inputs_, lanes_);
    parallel_for(lanes_, grain_, [&](std::int64_t begin, std::int64_t end) {
      std::vector<void*> own;
      for (std::size_t i = 0; i < line_.strides().size(); ++i)
        own.push_back(static_cast<char*>(at[i]) + begin * line_.strides()[i]);
      line_.run(own.data(), own.data() + inputs_, end - begin);
    });
  }

 private:
  std::size_t inputs_;
  std::int64_t lanes_, grain_;
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
  using Element = std::pair<int, std::int64_t>;  // slot, offset in bytes

  // ---- which steps

  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }
  static bool is_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }
  static bool is_zeros(const Step& s) { return s.name == "zeros" && s.operands.size() == 1; }
  static bool is_copy(const Step& s) {
    return s.name == "copy" && s.operands.size() == 2 && s.operands[0].dtype == s.operands[1].dtype &&
           is_float(s.operands[0].dtype);
  }
  static bool is_product(const Step& s) { return s.product && is_float(s.product->dtype); }
  // The form of a step of this operation, of floating elements.
  template <class Form>
  static const Form* form_of(const Step& s) {
    const auto* const work = dynamic_cast<const CallWork*>(s.work.get());
    const Form* const form = work ? work->form<Form>() : nullptr;
    return form && is_float(form->dtype) ? form : nullptr;
  }
  static const loops::LinearSystems* systems_of(const Step& s) {
    const ops::Solve* const form = form_of<ops::Solve>(s);
    return form ? &form->systems : nullptr;
  }
  static const loops::Factoring* determinants_of(const Step& s) {
    const ops::Factorise* const form = form_of<ops::Factorise>(s);
    return form && form->what.kind == loops::Factorisation::det ? &form->what : nullptr;
  }
  static bool has_formula(const Step& s) {
    return s.formula && std::all_of(s.operands.begin(), s.operands.end(),
                                    [&](const Operand& x) { return x.dtype == s.formula->formula.type; });
  }
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
  // The product with the lanes as its first axis, which may be folded into rows or columns.
  static std::optional<ops::Matmul> product_over(const Step& s, std::int64_t lanes) {
    ops::Matmul f = *s.product;
    loops::Product& p = f.product;
    if (lanes == 1 || (!f.axes.empty() && f.axes[0].extent == lanes && !f.axes[0].summed)) return f;
    if (p.m % lanes == 0) {
      p.m /= lanes;
      f.axes.insert(0, {lanes, p.m * p.a_row, 0, p.m * p.c_row, false});
    } else if (p.n % lanes == 0) {
      p.n /= lanes;
      f.axes.insert(0, {lanes, 0, p.n * p.b_column, p.n * p.c_column, false});
    } else {
      return std::nullopt;
    }
    return f;
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
  static std::int64_t weight_of(const Step& s, std::int64_t lanes) {
    if (is_product(s)) return static_cast<std::int64_t>(s.product->flops()) / lanes;
    // (A call of a factorisation costs four times what its numbers do.)
    if (const loops::LinearSystems* const f = systems_of(s))
      return f->count() / lanes * f->n * f->n * (f->n + f->m) / 4;
    if (const loops::Factoring* const f = determinants_of(s))
      return f->batch / lanes * f->n * f->n * f->n / 4;
    if (!s.formula) return 0;
    std::int64_t computed = 0;
    for (const formula::Step& one : s.formula->formula.steps)
      computed += one.arity == 0 ? 0 : formula::is_written(one.operation) ? 12 : 1;
    return size_of(s.operands[0].shape) / lanes *
           (computed + static_cast<std::int64_t>(s.formula->reduced.size()));
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
    group_.clear(), now_.clear(), stored_.clear(), inputs_.clear(), lane_strides_.clear();
    type_.reset();
    weight_ = elements_ = 0;
    ++number_;
  }

  // ---- the formula

  bool write(std::size_t next) {
    formula::Recorder recorder(*type_);
    recorder_ = &recorder;
    size_ = static_cast<std::int64_t>(dtype_size(*type_));
    fits_ = true;
    for (const std::size_t i : group_) carry_out(steps_[i]);
    std::vector<int> values;
    std::vector<Operand> results;
    for (const auto& [element, value] : stored_) {
      const SlotUses& uses = graph_.uses(element.first);
      const bool is_read = !uses.readers.empty() && uses.readers.back() >= static_cast<int>(next);
      if (!is_read && !graph_.comes_out(element.first) &&
          slots_[at(element.first)].kind == Slot::Kind::temporary)
        continue;
      values.push_back(value);
      results.push_back(operand_of(element, lane_strides_[element.first], true));
    }
    if (!fits_) return false;
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
        made.operands.push_back(operand_of(inputs_[one.detail].first, inputs_[one.detail].second, false));
        made.operands.back().across = true;
      }
      one.detail = static_cast<std::uint64_t>(place);
    }
    for (const Operand& x : made.operands)
      if (stored_.count({x.place.slot, x.place.offset}) > 0) return false;
    made.operands.insert(made.operands.end(), results.begin(), results.end());
    const std::int64_t count = static_cast<std::int64_t>(made.operands.size());
    if (count > 4 * most_elements_of_group || (lanes_ > 1 && weight_ < least_per_element * count))
      return false;
    std::vector<std::int64_t> strides;
    for (const Operand& x : made.operands) strides.push_back(lanes_ == 1 ? 1 : x.strides[0]);
    made.work = std::make_shared<const ElementsWork>(f, strides, lanes_);
    for (const std::size_t i : group_) made.flops += steps_[i].flops;
    kept_.push_back(std::move(made));
    return true;
  }
  Operand operand_of(const Element& element, std::int64_t stride, bool written) const {
    Operand x{{element.first, element.second}, written, *type_, Dims(), Dims()};
    if (lanes_ > 1) x.shape.push_back(lanes_), x.strides.push_back(stride);
    return x;
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
  // Do the lanes of one element, not the same one, touch those of an element that the group wrote?
  bool meets_written(const Element& element, std::int64_t stride) const {
    if (lanes_ == 1 || stride == 0) return false;
    for (auto it = stored_.lower_bound({element.first, INT64_MIN});
         it != stored_.end() && it->first.first == element.first; ++it)
      if (it->first != element && (it->first.second - element.second) % (stride * size_) == 0) return true;
    return false;
  }
  void note_lanes(int slot, std::int64_t stride) {
    const auto [known, added] = lane_strides_.try_emplace(slot, stride);
    fits_ = fits_ && known->second == stride;
  }
  // The element of an operand, so many elements from its place.
  int read(const Operand& x, std::int64_t elements) { return read(x, elements, lane_stride(x)); }
  int read(const Operand& x, std::int64_t elements, std::int64_t stride) {
    const std::int64_t offset = x.place.offset + elements * size_;
    const Slot* const slot = x.place.slot < 0 ? nullptr : &slots_[at(x.place.slot)];
    if (stride == 0 && !slot)
      return recorder_->constant(
          number_at(reinterpret_cast<const void*>(static_cast<std::intptr_t>(offset))));
    if (stride == 0 && slot->kind == Slot::Kind::constant)
      return recorder_->constant(number_at(static_cast<const char*>(slot->data) + offset));
    if (slot) note_lanes(x.place.slot, stride);
    const Element element{x.place.slot, offset};
    const auto [known, added] = now_.try_emplace(element, -1);
    if (added) {
      fits_ = fits_ && !meets_written(element, stride);
      known->second = recorder_->input(static_cast<int>(inputs_.size()));
      inputs_.push_back({element, stride});
    }
    return known->second;
  }
  void store(const Operand& x, std::int64_t elements, int value) {
    store(x, elements, lane_stride(x), value);
  }
  void store(const Operand& x, std::int64_t elements, std::int64_t stride, int value) {
    const Element element{x.place.slot, x.place.offset + elements * size_};
    note_lanes(x.place.slot, stride);
    fits_ = fits_ && !meets_written(element, stride);
    now_[element] = value;
    stored_[element] = value;
  }
  std::int64_t lane_stride(const Operand& x) const { return lanes_ == 1 ? 0 : x.strides[0]; }
  // f(the elements' places in all operands), in the order of memory of row-major ones; of lane 0.
  template <class F>
  void for_each(const Dims& shape, const std::vector<const Dims*>& strides, const F& f) const {
    const std::size_t first = lanes_ == 1 ? 0 : 1;
    std::vector<std::int64_t> places(strides.size());
    for (std::int64_t i = 0, n = size_of(shape) / lanes_; i < n; ++i) {
      std::int64_t rest = i;
      std::fill(places.begin(), places.end(), 0);
      for (std::size_t axis = shape.size(); axis-- > first; rest /= shape[axis])
        for (std::size_t o = 0; o < places.size(); ++o) places[o] += rest % shape[axis] * (*strides[o])[axis];
      f(places);
    }
  }

  void carry_out(const Step& s) {
    if (is_product(s)) return multiply(s);
    if (s.formula) return map(s);
    if (systems_of(s)) return solve(s, *systems_of(s));
    if (determinants_of(s)) return determinants(s, *determinants_of(s));
    const Operand& to = s.operands.back();
    if (is_zeros(s)) {
      const std::int64_t n = size_of(to.shape) / size_ / lanes_;
      const int zero = recorder_->constant(0);
      for (std::int64_t i = 0; i < n; ++i) store(to, i, lanes_ == 1 ? 0 : n, zero);
      return;
    }
    std::vector<std::pair<std::int64_t, int>> values;
    for_each(to.shape, {&s.operands[0].strides, &to.strides}, [&](const std::vector<std::int64_t>& places) {
      values.push_back({places[1], read(s.operands[0], places[0])});
    });
    for (const auto& [place, value] : values) store(to, place, value);
  }
  void map(const Step& s) {
    const MapFormula& m = *s.formula;
    std::vector<const Dims*> strides;
    for (const Operand& x : s.operands) strides.push_back(&x.strides);
    const auto operand = [&](int number) -> const Operand& { return s.operands[at(number)]; };
    std::vector<std::pair<Element, int>> values;  // by operand and place
    std::map<Element, int> sums;
    for_each(s.operands[0].shape, strides, [&](const std::vector<std::int64_t>& places) {
      std::vector<int> own;
      for (formula::Step one : m.formula.steps) {
        if (one.operation == formula::Operation::input) {
          const MapFormula::Input& from = m.inputs[one.detail];
          own.push_back(from.operand < 0 ? recorder_->constant(number_at(&from.number))
                                         : read(operand(from.operand), places[at(from.operand)]));
          continue;
        }
        for (int j = 0; j < one.arity; ++j) {
          int& x = one.operand[static_cast<std::size_t>(j)];
          x = own[static_cast<std::size_t>(x)];
        }
        own.push_back(recorder_->record_step(one));
      }
      std::size_t next = 0;
      const auto value = [&] { return own[static_cast<std::size_t>(m.formula.results[next++])]; };
      for (const int result : m.results) values.push_back({{result, places[at(result)]}, value()});
      for (const MapFormula::Reduced& r : m.reduced) {
        const int term = value();
        const auto [sum, first] = sums.try_emplace({r.operand, places[at(r.operand)]}, term);
        if (!first) sum->second = recorder_->record(joining(r.kind), {sum->second, term});
      }
    });
    values.insert(values.end(), sums.begin(), sums.end());
    for (const auto& [place, value] : values) store(operand(place.first), place.second, value);
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
    const ops::Matmul f = *product_over(s, lanes_);
    const loops::Product& p = f.product;
    Dims shape;
    Dims strides[3];
    const auto add = [&](std::int64_t extent, std::int64_t a, std::int64_t b, std::int64_t c) {
      shape.push_back(extent);
      strides[0].push_back(a), strides[1].push_back(b), strides[2].push_back(c);
    };
    for (const loops::BatchAxis& one : f.axes) add(one.extent, one.a, one.b, one.summed ? 0 : one.c);
    add(p.m, p.a_row, 0, p.c_row), add(p.n, 0, p.b_column, p.c_column), add(p.k, p.a_column, p.b_row, 0);
    const auto lane = [&](int operand) { return lanes_ == 1 ? 0 : strides[operand][0]; };
    std::map<std::int64_t, int> sums;
    for_each(shape, {&strides[0], &strides[1], &strides[2]}, [&](const std::vector<std::int64_t>& places) {
      const int term = recorder_->record(
          formula::Operation::multiply,
          {read(s.operands[0], places[0], lane(0)), read(s.operands[1], places[1], lane(1))});
      const auto [sum, first] = sums.try_emplace(places[2], term);
      if (!first) sum->second = recorder_->record(formula::Operation::add, {sum->second, term});
    });
    for (const auto& [place, sum] : sums) store(s.operands[2], place, lane(2), sum);
  }

  // ---- linear systems

  using Rows = std::vector<std::vector<int>>;
  int op(formula::Operation operation, std::initializer_list<int> operands) {
    return recorder_->record(operation, operands);
  }
  // Elimination with the greatest element of each column as its pivot, which comes up by exchanges of rows.
  // Gives the sign of their order.
  int eliminate(Rows& a, std::size_t n) {
    using enum formula::Operation;
    int sign = recorder_->constant(1);
    const int zero = recorder_->constant(0);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = k + 1; i < n; ++i) {
        const int greater = op(less, {op(absolute, {a[k][k]}), op(absolute, {a[i][k]})});
        for (std::size_t j = k; j < a[k].size(); ++j) {
          const int up = a[i][j], down = a[k][j];
          a[k][j] = op(select, {greater, up, down});
          a[i][j] = op(select, {greater, down, up});
        }
        sign = op(select, {greater, op(negative, {sign}), sign});
      }
      for (std::size_t i = k + 1; i < n; ++i) {
        const int factor = op(select, {op(equal, {a[i][k], zero}), zero, op(divide, {a[i][k], a[k][k]})});
        for (std::size_t j = k + 1; j < a[k].size(); ++j)
          a[i][j] = op(subtract, {a[i][j], op(multiply, {factor, a[k][j]})});
      }
    }
    return sign;
  }
  // Columns from n on become the solutions.
  void substitute(Rows& a, std::size_t n, bool lower, bool unit) {
    using enum formula::Operation;
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = lower ? step : n - 1 - step;
      for (std::size_t c = n; c < a[i].size(); ++c) {
        int sum = a[i][c];
        for (std::size_t done = 0; done < step; ++done) {
          const std::size_t j = lower ? done : n - 1 - done;
          sum = op(subtract, {sum, op(multiply, {a[i][j], a[j][c]})});
        }
        a[i][c] = unit ? sum : op(divide, {sum, a[i][i]});
      }
    }
  }
  void solve(const Step& s, const loops::LinearSystems& f) {
    const bool inverts = s.operands.size() == 2;
    const Operand& x = s.operands.back();
    for (std::int64_t b = 0, count = f.count() / lanes_; b < count; ++b) {
      const auto element = [&](const Operand& from, const loops::StridedMatrices& by, std::int64_t i,
                               std::int64_t j) {
        const std::int64_t lane = lanes_ == 1 ? 0 : by.batch[0];
        const std::int64_t base = lanes_ == 1 && !f.batches.empty() ? by.at(b, f.batches) : 0;
        return read(from, base + i * by.row + j * by.column, lane);
      };
      Rows rows;
      for (std::int64_t i = 0; i < f.n; ++i) {
        rows.emplace_back();
        for (std::int64_t j = 0; j < f.n; ++j) {
          const bool is_read = f.kind == loops::SystemKind::general ||
                               (i == j ? !loops::is_unit(f.kind) : loops::is_lower(f.kind) == (i > j));
          rows.back().push_back(is_read ? element(s.operands[0], f.a, i, j) : recorder_->constant(0));
        }
        for (std::int64_t c = 0; c < f.m; ++c)
          rows.back().push_back(inverts ? recorder_->constant(i == c) : element(s.operands[1], f.b, i, c));
      }
      const std::size_t n = static_cast<std::size_t>(f.n);
      const bool general = f.kind == loops::SystemKind::general;
      if (general) eliminate(rows, n);
      substitute(rows, n, !general && loops::is_lower(f.kind), loops::is_unit(f.kind));
      for (std::int64_t i = 0; i < f.n; ++i)
        for (std::int64_t c = 0; c < f.m; ++c)
          store(x, (b * f.n + i) * f.m + c, lanes_ == 1 ? 0 : f.n * f.m,
                rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(f.n + c)]);
    }
  }
  void determinants(const Step& s, const loops::Factoring& f) {
    for (std::int64_t b = 0, count = f.batch / lanes_; b < count; ++b) {
      Rows rows;
      for (std::int64_t i = 0; i < f.n; ++i) {
        rows.emplace_back();
        for (std::int64_t j = 0; j < f.n; ++j)
          rows.back().push_back(read(s.operands[0], (b * f.n + i) * f.n + j, lanes_ == 1 ? 0 : f.n * f.n));
      }
      int product = eliminate(rows, rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        product = op(formula::Operation::multiply, {product, rows[i][i]});
      store(s.operands[1], b, lanes_ == 1 ? 0 : 1, product);
    }
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

  formula::Recorder* recorder_ = nullptr;
  std::int64_t size_ = 0;
  bool fits_ = true;
  std::map<Element, int> now_, stored_;
  std::map<int, std::int64_t> lane_strides_;  // by slot
  std::vector<std::pair<Element, std::int64_t>> inputs_;
};

NAX_ENGINE void spell_small(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results) {
  if (spells_small.load(std::memory_order_relaxed)) SmallSteps(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
