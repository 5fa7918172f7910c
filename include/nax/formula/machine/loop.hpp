#pragma once

#include "nax/formula/machine/steps.hpp"

// The loop around a formula's steps: whole packets, then a masked tail.
NAX_BEGIN
namespace formula::jit {

class Loop final : public Steps {
 public:
  Loop(const CodeRequest& request, std::size_t size, void* memory) : Steps(request, size, memory) {
    write_all();
  }
  int lanes_of_sum() const { return lanes(); }

 private:
  static constexpr int base_registers[] = {3, 5, 12, 13, 14, 15, 6};  // rbx, rbp, r12 to r15, rsi

  std::vector<int> input_bases_, result_bases_, accumulators_;
  Xbyak::Label start_, tail_part_, end_;

  int base_of_input(int i) const override { return input_bases_[at(i)]; }
  bool is_read(int i) const {
    return std::any_of(f_.steps.begin(), f_.steps.end(), [&](const Step& s) {
      return s.operation == Operation::input && static_cast<int>(s.detail) == i;
    });
  }

  void write_all() {
    if (wide_) {
      masks_.own(0, Bank::reserved);
      masks_.own(1, Bank::reserved);
    } else {
      vectors_.own(15, Bank::reserved);
    }
    const Xbyak::Reg64 saved[] = {rbx, rbp, r12, r13, r14, r15};
    for (const auto& r : saved) push(r);
    mov(r11, rsp);
    sub(rsp, 0x7fffff00);  // the size is known at the end
    const std::size_t frame_at = getSize() - 4;
    touch_stack();
    and_(rsp, -64);
    mov(stack(0), r11);
    take_operands();
    hoist();

    mov(rdx, ptr[rdi + offsetof(CodeArguments, n)]);
    mov(r8, rdx);
    and_(r8, lanes() - 1);
    sub(rdx, r8);
    shl(rdx, single_ ? 2 : 3);
    xor_(ecx, ecx);
    test(rdx, rdx);
    jz(tail_part_, T_NEAR);
    L(start_);
    write_body(false);
    add(rcx, bytes());
    cmp(rcx, rdx);
    jl(start_, T_NEAR);
    L(tail_part_);
    test(r8, r8);
    jz(end_, T_NEAR);
    make_tail_mask();
    write_body(true);
    L(end_);
    if (request_.sums) store_sums();
    mov(rsp, stack(0));
    vzeroupper();
    for (int i = 5; i >= 0; --i) pop(saved[i]);
    ret();
    for (std::size_t i = 0; i < cold_.size(); ++i) cold_[i]();
    write_pool();
    rewrite(frame_at, static_cast<std::uint64_t>(frame_size()), 4);
    ready();
  }

  // Windows makes room for a stack page by page: each is touched in turn, from the last that was used.
  void touch_stack() {
#if defined(_WIN32)
    Xbyak::Label next;
    mov(r10, r11);
    L(next);
    sub(r10, 4096);
    test(ptr[r10], r10);
    cmp(r10, rsp);
    ja(next);
#endif
  }

  void take_operands() {
    input_bases_.assign(at(f_.inputs), -1);
    result_bases_.assign(f_.results.size(), -1);
    std::size_t next = 0;
    mov(rax, ptr[rdi + offsetof(CodeArguments, inputs)]);
    for (int i = 0; i < f_.inputs; ++i) {
      if (!is_read(i)) continue;
      switch (request_.inputs[at(i)]) {
        case Access::contiguous:
          if (next < std::size(base_registers)) {
            input_bases_[at(i)] = base_registers[next++];
            mov(Xbyak::Reg64(input_bases_[at(i)]), ptr[rax + 8 * i]);
          }
          break;
        case Access::repeated:
          mov(r11, ptr[rax + 8 * i]);
          if (single_)
            vbroadcastss(vec(0), ptr[r11]);
          else
            wide_ ? vbroadcastsd(zmm0, ptr[r11]) : vbroadcastsd(ymm0, ptr[r11]);
          store(stack(input_areas_ + 64 * i), vec(0));
          break;
        case Access::strided:
          mov(r11, ptr[rax + 8 * i]);
          mov(stack(input_pointers_ + 8 * i), r11);
      }
    }
    if (request_.sums) return;
    mov(rax, ptr[rdi + offsetof(CodeArguments, results)]);
    for (std::size_t k = 0; k < f_.results.size(); ++k) {
      const int offset = 8 * static_cast<int>(k);
      if (request_.results[k] == Access::strided) {
        mov(r11, ptr[rax + offset]);
        mov(stack(result_pointers_ + offset), r11);
      } else if (next < std::size(base_registers)) {
        result_bases_[k] = base_registers[next++];
        mov(Xbyak::Reg64(result_bases_[k]), ptr[rax + offset]);
      }
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
    if (request_.sums)
      for (std::size_t k = 0; k < f_.results.size(); ++k) {
        const int r = vectors_.free_one();
        vectors_.own(r, Bank::reserved);
        accumulators_.push_back(r);
        vpxord_or_vpxor(vec(r));
      }
    int spare = -pressure() - (wide_ ? 4 : 5);
    for (int r = 0; r < vectors_.size(); ++r) spare += vectors_.owner(r) == Bank::none;
    std::vector<int> wanted;
    for (std::size_t v = 0; v < f_.steps.size(); ++v)
      if (is_invariant(static_cast<int>(v)) && !uses_[v].empty()) wanted.push_back(static_cast<int>(v));
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](int a, int b) { return uses_[at(a)].size() > uses_[at(b)].size(); });
    for (int v : wanted) {
      if (spare-- <= 0) break;
      const int r = vectors_.free_one();
      move(vec(r), memory(v));
      vectors_.own(r, Bank::reserved);
      places_[at(v)].reg = r;
      pinned_[at(v)] = 1;
    }
  }
  void vpxord_or_vpxor(const Xmm& d) { wide_ ? vpxord(d, d, d) : vpxor(d, d, d); }

  void make_tail_mask() {
    if (wide_) {
      mov(eax, -1);
      bzhi(eax, eax, r8d);
      kmovw(Opmask(1), eax);
    } else {
      lea(rax, ptr[rip + tail_masks_]);
      mov(r9d, lanes());
      sub(r9, r8);
      move(vec(15), ptr[rax + r9 * element()]);
    }
  }

  void write_body(bool tail) {
    tail_ = tail;
    for (Bank* bank : {&vectors_, &masks_})
      for (int r = 0; r < bank->size(); ++r)
        if (bank->owner(r) != Bank::reserved) bank->own(r, Bank::none);
    for (std::size_t v = 0; v < places_.size(); ++v)
      if (!pinned_[v]) places_[v] = Place{};
    free_slots_.clear();
    for (int s = 0; s < slot_count_; ++s) free_slots_.push_back(s);
    for (std::size_t i = 0; i < f_.steps.size(); ++i) write_step(static_cast<int>(i));
    now_ = static_cast<int>(f_.steps.size());
    for (std::size_t k = 0; k < f_.results.size(); ++k) {
      const int v = f_.results[k];
      Xmm value = vec(0);
      if (step(v).truth()) {
        value = vec(fresh_vector());
        const int truth = in_register(v);
        if (wide_)
          move(value | Opmask(truth) | T_z, pool_number(1));
        else
          all_and(value, vec(truth), pool_number(1));
      } else {
        value = number(v);
      }
      request_.sums ? add_to_sum(k, value) : store_result(k, value);
      vectors_.free_temporaries();
      vectors_.unlock_all();
      masks_.unlock_all();
    }
  }

  void store_result(std::size_t k, const Xmm& value) {
    const int offset = 8 * static_cast<int>(k);
    if (request_.results[k] == Access::strided) return store_strided(k, value);
    Xbyak::Reg64 base = r11;
    if (result_bases_[k] >= 0) {
      base = Xbyak::Reg64(result_bases_[k]);
    } else {
      mov(r11, ptr[rdi + offsetof(CodeArguments, results)]);
      mov(r11, ptr[r11 + offset]);
    }
    const Address to = ptr[base + rcx];
    if (!tail_)
      store(to, value);
    else if (wide_)
      single_ ? vmovups(to | Opmask(1), value) : vmovupd(to | Opmask(1), value);
    else
      single_ ? vmaskmovps(to, vec(15), value) : vmaskmovpd(to, vec(15), value);
  }
  void store_strided(std::size_t k, const Xmm& value) {
    const int offset = 8 * static_cast<int>(k);
    const Xbyak::Reg& lane =
        single_ ? static_cast<const Xbyak::Reg&>(eax) : static_cast<const Xbyak::Reg&>(rax);
    store(stack(result_areas_), value);
    mov(r9, stack(result_pointers_ + offset));
    mov(r10, ptr[rdi + offsetof(CodeArguments, result_strides)]);
    mov(r10, ptr[r10 + offset]);
    if (!tail_) {
      for (int j = 0; j < lanes(); ++j) {
        mov(lane, stack(result_areas_ + j * element()));
        mov(ptr[r9], lane);
        add(r9, r10);
      }
      mov(stack(result_pointers_ + offset), r9);
      return;
    }
    Xbyak::Label again;
    xor_(r11d, r11d);
    L(again);
    mov(lane, ptr[rsp + r11 * element() + result_areas_]);
    mov(ptr[r9], lane);
    add(r9, r10);
    inc(r11);
    cmp(r11, r8);
    jl(again, T_NEAR);
  }

  void add_to_sum(std::size_t k, const Xmm& value) {
    const Xmm sum = vec(accumulators_[k]);
    if (!tail_) {
      all_add(sum, sum, value);
    } else if (wide_) {
      all_add(sum | Opmask(1), sum, value);
    } else {
      const Xmm t = vec(fresh_vector());
      all_and(t, value, vec(15));
      all_add(sum, sum, t);
    }
  }
  void store_sums() {
    mov(rax, ptr[rdi + offsetof(CodeArguments, sums)]);
    for (std::size_t k = 0; k < f_.results.size(); ++k)
      store(ptr[rax + 64 * static_cast<int>(k)], vec(accumulators_[k]));
  }
};

}  // namespace formula::jit
NAX_END
