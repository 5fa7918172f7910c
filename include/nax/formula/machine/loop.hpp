#pragma once

#include "nax/formula/machine/steps.hpp"

// The loop around a formula's steps: whole packets, then a masked tail.
NAX_BEGIN
namespace formula::jit {

class Loop final : public Steps {
 public:
  Loop(const CodeRequest& request, Room room) : Steps(request, room) { write_all(); }

 private:
  std::vector<int> input_bases_, result_bases_;
  std::vector<int> sums_;  // of results, the registers that hold them
  Label start_, tail_part_, end_;

  int base_of_input(int i) const override { return input_bases_[at(i)]; }
  bool is_read(int i) const {
    return std::any_of(f_.steps.begin(), f_.steps.end(), [&](const Step& s) {
      return s.operation == Operation::input && static_cast<int>(s.detail) == i;
    });
  }

  void write_all() {
    reserve(vectors_, masks_);
    enter_code(base_count());
    take_operands();
    begin_sums();
    hoist();

    count_packets(tail_part_);
    place_loop(start_);
    write_body(false);
    next_packet(start_);
    place(tail_part_);
    begin_tail(end_);
    write_body(true);
    place(end_);
    end_sums();
    leave_code();
    for (std::size_t i = 0; i < cold_.size(); ++i) cold_[i]();
    finish_code(frame_size());
  }

  // How many operands have their place in a register, where there are enough.
  std::size_t base_count() const {
    std::size_t count = 0;
    for (int i = 0; i < f_.inputs; ++i) count += request_.inputs[at(i)] == Access::contiguous && is_read(i);
    for (const Access result : request_.results)
      count += result == Access::contiguous || result == Access::repeated;
    return count;
  }

  void take_operands() {
    input_bases_.assign(at(f_.inputs), -1);
    result_bases_.assign(f_.results.size(), -1);
    const std::vector<int> bases = base_registers(calls_);
    const std::vector<DType> types = f_.input_types();
    std::size_t next = 0;
    open_table(offsetof(CodeArguments, inputs));
    for (int i = 0; i < f_.inputs; ++i) {
      if (!is_read(i)) continue;
      switch (request_.inputs[at(i)]) {
        case Access::contiguous:
          if (next < bases.size()) take_base(input_bases_[at(i)] = bases[next++], i);
          break;
        case Access::repeated:  // in hoist()
          break;
        case Access::summed:
        case Access::strided:
          take_pointer(i, input_pointers_ + 8 * i);
      }
    }
    open_table(offsetof(CodeArguments, results));
    for (std::size_t k = 0; k < f_.results.size(); ++k) {
      const int i = static_cast<int>(k);
      if (request_.results[k] == Access::strided || is_summed(k))
        take_pointer(i, result_pointers_ + 8 * i);
      else if (next < bases.size())
        take_base(result_bases_[k] = bases[next++], i);
    }
  }

  bool is_summed(std::size_t k) const { return request_.results[k] == Access::summed; }
  void begin_sums() {
    sums_.assign(f_.results.size(), -1);
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      if (!is_summed(k)) continue;
      const Typed typed(*this, result_types_[k]);
      sums_[k] = vectors_.free_one();
      vectors_.own(sums_[k], Bank::reserved);
      move(vec(sums_[k]), pool(0));
    }
  }
  void end_sums() {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      if (!is_summed(k)) continue;
      const Typed typed(*this, result_types_[k]);
      store_through(result_pointers_ + 8 * static_cast<int>(k), vec(sums_[k]));
    }
  }
  // The tail's lanes alone are added, by way of an area of zeros.
  void add_to_sum(std::size_t k, const Vector& value) {
    const Vector sum = vec(sums_[k]);
    if (!tail_) return all_add(sum, sum, value);
    const Vector rest = vec(fresh_vector());
    move(rest, pool(0));
    store(stack(result_areas_), rest);
    store_tail_there(result_areas_, value);
    move(rest, stack(result_areas_));
    all_add(sum, sum, rest);
  }

  // Where there is much to compute for each element and there are few operands: the processor's own
  // prefetching stops at each page.
  void fetch_ahead() {
    if (base_count() > 3 || f_.steps.size() < 16) return;
    const std::vector<DType> types = f_.input_types();
    for (int i = 0; i < f_.inputs; ++i) {
      if (input_bases_[at(i)] < 0) continue;
      const Typed typed(*this, types[at(i)]);
      prefetch(input_bases_[at(i)], false);
    }
    for (std::size_t k = 0; k < f_.results.size(); ++k) {
      if (result_bases_[k] < 0) continue;
      const Typed typed(*this, result_types_[k]);
      prefetch(result_bases_[k], true);
    }
  }

  // How many registers the steps need at once, about.
  int pressure() const {
    const int n = static_cast<int>(f_.steps.size());
    std::vector<int> change(f_.steps.size() + 2);
    for (int v = 0; v < n; ++v) {
      if (is_invariant(v) || is_mask(v) || uses_[at(v)].empty()) continue;
      ++change[at(step(v).operation == Operation::input ? uses_[at(v)].front() : v)];
      --change[at(uses_[at(v)].back()) + 1];
    }
    int live = 0, most = 0;
    for (int c : change) most = std::max(most, live += c);
    return most;
  }

  // Constants and repeated inputs that are read most stay in registers, as far as those suffice.
  void hoist() {
    const std::vector<DType> types = f_.input_types();
    int spare = -pressure() - (has_masks() ? 4 : 5);
    for (int r = 0; r < vectors_.size(); ++r) spare += vectors_.owner(r) == Bank::none;
    std::vector<int> wanted;
    for (std::size_t v = 0; v < f_.steps.size(); ++v)
      if (is_invariant(static_cast<int>(v)) && !uses_[v].empty()) wanted.push_back(static_cast<int>(v));
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](int a, int b) { return uses_[at(a)].size() > uses_[at(b)].size(); });
    open_table(offsetof(CodeArguments, inputs));
    std::vector<char> taken(at(f_.inputs));
    for (int v : wanted) {
      if (spare-- <= 0) break;
      const int r = vectors_.free_one();
      if (is_repeated(v)) {
        const int i = static_cast<int>(step(v).detail);
        const Typed typed(*this, types[at(i)]);
        take_repeated(i, vec(r));
        taken[at(i)] = 1;
      } else {
        const Typed typed(*this, step(v).type);
        move(vec(r), memory(v));
      }
      vectors_.own(r, Bank::reserved);
      places_[at(v)].reg = r;
      pinned_[at(v)] = 1;
    }
    const int passing = vectors_.free_one();
    for (int i = 0; i < f_.inputs; ++i) {
      if (request_.inputs[at(i)] != Access::repeated || taken[at(i)] || !is_read(i)) continue;
      const Typed typed(*this, types[at(i)]);
      take_repeated(i, vec(passing));
      store(stack(input_areas_ + unit * i), vec(passing));
    }
  }

  void write_body(bool tail) {
    tail_ = tail;
    storing_ = false;
    for (Bank* bank : {&vectors_, &masks_})
      for (int r = 0; r < bank->size(); ++r)
        if (bank->owner(r) != Bank::reserved) bank->own(r, Bank::none);
    for (std::size_t v = 0; v < places_.size(); ++v)
      if (!pinned_[v]) places_[v] = Place{};
    if (!tail) fetch_ahead();
    free_slots_.clear();
    for (int s = 0; s < slot_count_; ++s) free_slots_.push_back(s);
    for (std::size_t i = 0; i < f_.steps.size(); ++i) write_step(static_cast<int>(i));
    now_ = static_cast<int>(f_.steps.size());
    storing_ = f_.results.size() > 1;
    for (const int v : results_) {
      if (!storing_ || step(v).operation != Operation::input || is_repeated(v)) continue;
      in_register(v);
      vectors_.unlock_all();
    }
    for (std::size_t k = 0; k < f_.results.size(); ++k) {
      const int v = results_[k];
      const Typed typed(*this, step(v).type);
      Vector value = vec(0);
      if (step(v).truth()) {
        value = vec(fresh_vector());
        truth_as_number(value, in_register(v));
      } else {
        value = number(v);
      }
      store_result(k, value);
      vectors_.free_temporaries();
      vectors_.unlock_all();
      masks_.unlock_all();
    }
  }

  void store_result(std::size_t k, const Vector& value) {
    const int i = static_cast<int>(k);
    const Typed typed(*this, result_types_[k]);
    if (is_summed(k)) return add_to_sum(k, value);
    const int scratch = is_narrow(result_types_[k]) ? fresh_vector() : -1;
    if (request_.results[k] == Access::strided)
      return store_strided(value, result_pointers_ + 8 * i, offsetof(CodeArguments, result_strides), i,
                           result_areas_, tail_, scratch);
    const Address to = contiguous(result_bases_[k], offsetof(CodeArguments, results), i);
    tail_ ? store_tail(to, value, result_areas_, scratch) : store_packet(to, value, scratch);
  }
};

}  // namespace formula::jit
NAX_END
