#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "nax/formula/machine/assembler.hpp"
#include "nax/formula/machine/registers.hpp"

// The steps of a formula as straight code over one packet: where operands are found, which registers results
// take, what goes to the stack. Assembler says how instructions are written.
NAX_BEGIN
namespace formula::jit {

class Body : public Assembler {
 public:
  Body(const CodeRequest& request, Room room)
      : Assembler(room, *request.formula, request.machine),
        request_(request),
        f_(*request.formula),
        places_(f_.steps.size()),
        uses_(f_.steps.size()),
        vectors_(vector_count()),
        masks_(8) {
    for (std::size_t i = 0; i < f_.steps.size(); ++i)
      for (int j = 0; j < f_.steps[i].arity; ++j)
        if (auto& uses = uses_[at(operand(static_cast<int>(i), j))];
            uses.empty() || uses.back() != static_cast<int>(i))
          uses.push_back(static_cast<int>(i));
    for (int result : f_.results) {
      result_types_.push_back(step(result).type);
      results_.push_back(unrounded(result));
      uses_[at(results_.back())].push_back(static_cast<int>(f_.steps.size()));
    }
    lay_out_stack();
  }

 protected:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const Step& step(int i) const { return f_.steps[at(i)]; }
  int operand(int i, int j) const { return step(i).operand[at(j)]; }
  // The number of which a result is rounded, where no step reads that: stores round, too.
  int unrounded(int v) const {
    const bool rounds = step(v).operation == Operation::convert && step(v).type == DType::float16 &&
                        uses_[at(v)].empty() && step(operand(v, 0)).type == DType::float32 &&
                        !step(operand(v, 0)).truth();
    return rounds ? operand(v, 0) : v;
  }

  // ---- the stack, in units

  void lay_out_stack() {
    for (const Step& s : f_.steps)
      calls_ = calls_ || s.operation == Operation::call || s.operation == Operation::rescue;
    int next = unit;  // the first is the assembler's
    const auto area = [&](int count) {
      const int begin = next;
      next += unit * count;
      return begin;
    };
    call_area_ = area(calls_ ? Step::most_operands + 4 : 0);
    saved_vectors_ = area(calls_ ? vectors_.size() : 0);
    saved_masks_ = area(calls_ ? 1 : 0);
    input_areas_ = area(f_.inputs);
    const auto pointers = [&](std::size_t count) {
      return area((8 * static_cast<int>(count) + unit - 1) / unit);
    };
    input_pointers_ = pointers(at(f_.inputs));
    result_areas_ = area(1);
    result_pointers_ = pointers(f_.results.size());
    slots_ = next;
  }
  int frame_size() const { return slots_ + unit * slot_count_; }
  Address slot(int s) { return stack(slots_ + unit * s); }

  // ---- values

  bool is_mask(int v) const { return has_masks() && step(v).truth(); }
  Bank& bank_of(int v) { return is_mask(v) ? masks_ : vectors_; }
  bool is_repeated(int v) const {
    return step(v).operation == Operation::input && request_.inputs[step(v).detail] == Access::repeated;
  }
  bool is_constant(int v) const { return step(v).operation == Operation::constant; }
  bool is_invariant(int v) const { return is_constant(v) || is_repeated(v); }
  // In memory as it is computed.
  bool is_contiguous(int v) const {
    return !is_narrow(step(v).type) && step(v).operation == Operation::input &&
           request_.inputs[step(v).detail] == Access::contiguous;
  }
  int next_use(int v) const {
    const auto& uses = uses_[at(v)];
    const auto next = std::lower_bound(uses.begin(), uses.end(), now_);
    return next != uses.end() ? *next : never;
  }
  bool dies_now(int v) const {
    if (pinned_[at(v)]) return false;
    const auto& uses = uses_[at(v)];
    return uses.empty() || uses.back() <= now_;
  }

  // A register for a new value, locked for this step.
  int fresh(Bank& bank) {
    int r = bank.free_one();
    if (r < 0) {
      r = bank.latest([&](int v) { return next_use(v); });
      if (r < 0) throw ValueError("formula: one step needs more registers than there are");
      evict(bank, r);
    }
    bank.own(r, Bank::temporary);
    bank.lock(r);
    return r;
  }
  int fresh_vector() { return fresh(vectors_); }
  int fresh_mask() { return fresh(masks_); }
  void evict(Bank& bank, int r) {
    const int v = bank.owner(r);
    Place& place = places_[at(v)];
    place.reg = -1;
    if (place.slot >= 0 || is_invariant(v) || (is_contiguous(v) && !storing_) || next_use(v) == never) return;
    if (free_slots_.empty()) {
      place.slot = slot_count_++;
    } else {
      place.slot = free_slots_.back();
      free_slots_.pop_back();
    }
    const Typed typed(*this, step(v).type);
    if (&bank == &masks_)
      save_mask(slot(place.slot), r);
    else
      store(slot(place.slot), vec(r));
  }
  void bind(int v, int r) {
    bank_of(v).own(r, v);
    places_[at(v)].reg = r;
  }
  void bind(int v, const Vector& r) { bind(v, index(r)); }

  // The memory that holds a value, if one does.
  bool in_memory(int v) const {
    return is_invariant(v) || places_[at(v)].slot >= 0 || (is_contiguous(v) && !tail_);
  }
  Address memory(int v) {
    const Typed typed(*this, step(v).type);
    if (is_constant(v)) return pool_constant(step(v));
    if (is_repeated(v)) return stack(input_areas_ + unit * static_cast<int>(step(v).detail));
    if (places_[at(v)].slot >= 0) return slot(places_[at(v)].slot);
    return contiguous_input(static_cast<int>(step(v).detail));
  }
  // The value in a register, locked for this step.
  int in_register(int v) {
    const Typed typed(*this, step(v).type);
    Bank& bank = bank_of(v);
    if (int r = places_[at(v)].reg; r >= 0) {
      bank.lock(r);
      return r;
    }
    const int r = fresh(bank);
    if (&bank == &masks_) {
      load_mask(r, slot(places_[at(v)].slot));
    } else if (places_[at(v)].slot < 0 && step(v).operation == Operation::input && !is_repeated(v)) {
      load_input(r, static_cast<int>(step(v).detail));
    } else {
      move(vec(r), memory(v));
    }
    bind(v, r);
    return r;
  }
  Vector number(int v) {
    const Typed typed(*this, step(v).type);
    return vec(in_register(v));
  }
  // f(register or memory): memory where instructions read it, the value is there and is read this once.
  template <class F>
  void with(int v, const F& f) {
    if (reads_memory && places_[at(v)].reg < 0 && in_memory(v) && (is_invariant(v) || dies_now(v)))
      f(memory(v));
    else
      f(number(v));
  }
  // The register of step i's result: that of an operand that ends here, or another. For single instructions,
  // which read before they write.
  int result_register(int i) {
    Bank& bank = bank_of(i);
    for (int j = 0; j < step(i).arity; ++j) {
      const int v = operand(i, j);
      const int r = places_[at(v)].reg;
      if (r < 0 || &bank_of(v) != &bank || !dies_now(v) || bank.owner(r) != v) continue;
      places_[at(v)].reg = -1;
      bank.own(r, Bank::temporary);
      return r;
    }
    return fresh(bank);
  }
  // Ends step i: operands that end here leave their places.
  void end_step(int i) {
    for (int j = 0; j < step(i).arity; ++j) release(operand(i, j));
    vectors_.free_temporaries();
    masks_.free_temporaries();
    vectors_.unlock_all();
    masks_.unlock_all();
  }
  void release(int v) {
    if (!dies_now(v)) return;
    Place& place = places_[at(v)];
    if (place.reg >= 0) bank_of(v).own(place.reg, Bank::none);
    if (place.slot >= 0) free_slots_.push_back(place.slot);
    place = Place{};
  }

  // ---- inputs

  // Within the type of the input.
  Address contiguous_input(int i) { return contiguous(base_of_input(i), offsetof(CodeArguments, inputs), i); }
  virtual int base_of_input(int i) const = 0;
  void load_input(int r, int i) {
    if (request_.inputs[at(i)] == Access::contiguous) {
      const Address from = contiguous_input(i);
      tail_ ? load_tail(vec(r), from, input_areas_ + unit * i) : load(vec(r), from);
    } else {
      load_strided(vec(r), input_pointers_ + 8 * i, offsetof(CodeArguments, input_strides), i,
                   input_areas_ + unit * i, tail_);
    }
  }

  static constexpr int never = 1 << 30;
  const CodeRequest& request_;
  const Formula& f_;
  std::vector<int> results_;  // steps whose values are stored
  std::vector<DType> result_types_;
  std::vector<Place> places_;
  std::vector<std::vector<int>> uses_;
  std::vector<char> pinned_ = std::vector<char>(f_.steps.size());
  Bank vectors_, masks_;
  std::vector<int> free_slots_;
  int slot_count_ = 0, now_ = 0;
  bool tail_ = false, calls_ = false;
  bool storing_ = false;  // results, which may lie where inputs do
  int call_area_ = 0, saved_vectors_ = 0, saved_masks_ = 0, input_areas_ = 0, input_pointers_ = 0,
      result_areas_ = 0, result_pointers_ = 0, slots_ = 0;
  std::vector<std::function<void()>> cold_;
};

}  // namespace formula::jit
NAX_END
