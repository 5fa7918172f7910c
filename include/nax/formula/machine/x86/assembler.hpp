#pragma once

#include "nax/formula/machine/x86/instructions.hpp"

// How code of AVX2 and AVX-512 takes its operands, goes round its loop and calls functions.
NAX_BEGIN
namespace formula::jit {

class Assembler : public Instructions {
 public:
  using Instructions::Instructions;

 protected:
  // ---- operands. A table is the place of a list in CodeArguments.

  std::vector<int> base_registers(bool) const { return {6, 3, 5, 12, 13, 14, 15}; }  // rsi, rbx, rbp, ...
  void open_table(std::size_t table) { mov(rax, ptr[rdi + table]); }
  void take_base(int base, int i) { mov(Xbyak::Reg64(base), ptr[rax + 8 * i]); }
  void take_pointer(int i, int slot) {
    mov(r11, ptr[rax + 8 * i]);
    mov(stack(slot), r11);
  }
  void take_repeated(int i, const Vector& d) {
    mov(r11, ptr[rax + 8 * i]);
    if (is_narrow(type_)) {
      switch (type_) {
        case DType::int8:
          movsx(r10d, byte[r11]);
          break;
        case DType::int16:
          movsx(r10d, word[r11]);
          break;
        case DType::uint8:
        case DType::boolean:
          movzx(r10d, byte[r11]);
          break;
        default:
          movzx(r10d, word[r11]);
      }
      if (type_ == DType::bfloat16) shl(r10d, 16);
      const Xbyak::Xmm low(index(d));
      vmovd(low, r10d);
      if (type_ == DType::float16) vcvtph2ps(low, low);
      vbroadcastss(d, low);
    } else if (single_) {
      vbroadcastss(d, ptr[r11]);
    } else {
      wide_ ? vbroadcastsd(Xbyak::Zmm(index(d)), ptr[r11]) : vbroadcastsd(Xbyak::Ymm(index(d)), ptr[r11]);
    }
  }
  Address contiguous(int base, std::size_t table, int i) {
    if (base >= 0) return ptr[Xbyak::Reg64(base) + rcx * stored_bytes()];
    mov(r11, ptr[rdi + table]);
    mov(r11, ptr[r11 + 8 * i]);
    return ptr[r11 + rcx * stored_bytes()];
  }
  void prefetch(int base, bool writes) {
    const Address place = ptr[Xbyak::Reg64(base) + rcx * stored_bytes() + 2048];
    writes ? prefetchw(place) : prefetcht0(place);
  }
  // A packet of what lies one after the other in memory. Narrow numbers are stored by way of a free register.
  void load(const Vector& d, const Address& from) { is_narrow(type_) ? widen(d, from) : move(d, from); }
  void store_packet(const Address& to, const Vector& a, int scratch) {
    if (!is_narrow(type_)) return store(to, a);
    lea(r9, to);
    narrow(vec(scratch), a);
    store_narrow(ptr[r9], scratch);
  }
  void load_tail(const Vector& d, const Address& from, int area) {
    if (wide_) return load(d | Opmask(1) | T_z, from);
    if (!is_narrow(type_))
      return single_ ? vmaskmovps(d, tail_mask(), from) : vmaskmovpd(d, tail_mask(), from);
    lea(r9, from);
    mov(r10d, stored_bytes());
    copy_lanes(area, true, [&](const Xbyak::Reg& lane, const Address& place) { load_lane(lane, place); });
    widen(d, stack(area));
  }
  void store_tail(const Address& to, const Vector& a, int area, int scratch) {
    if (!is_narrow(type_)) {
      if (wide_)
        single_ ? vmovups(to | Opmask(1), a) : vmovupd(to | Opmask(1), a);
      else
        single_ ? vmaskmovps(to, tail_mask(), a) : vmaskmovpd(to, tail_mask(), a);
      return;
    }
    lea(r9, to);
    narrow(vec(scratch), a);
    if (wide_) {
      const Vector t = sized(std::max(16, lanes() * stored_bytes()), scratch);
      return stored_bytes() == 2 ? vmovdqu16(ptr[r9] | Opmask(1), t) : vmovdqu8(ptr[r9] | Opmask(1), t);
    }
    store_narrow(stack(area), scratch);
    mov(r10d, stored_bytes());
    copy_lanes(area, true, [&](const Xbyak::Reg& lane, const Address& place) { store_lane(lane, place); });
  }
  void store_tail_there(int area, const Vector& a) { store_tail(stack(area), a, area, -1); }
  // To where the pointer in the slot points.
  void store_through(int slot, const Vector& a) {
    mov(r11, stack(slot));
    store(ptr[r11], a);
  }
  void widen(const Vector& d, const Address& from) {
    switch (type_) {
      case DType::float16:
        return vcvtph2ps(d, from);
      case DType::bfloat16:
        vpmovzxwd(d, from);
        return vpslld(d, d, 16);
      case DType::int8:
        return vpmovsxbd(d, from);
      case DType::int16:
        return vpmovsxwd(d, from);
      case DType::uint16:
        return vpmovzxwd(d, from);
      default:
        return vpmovzxbd(d, from);
    }
  }
  // Numbers of less than 32 bits side by side.
  void narrow(const Vector& d, const Vector& a) {
    const Vector half = with_lanes(d, 2), quarter = with_lanes(d, 1);
    if (type_ == DType::float16) return vcvtps2ph(half, a, 0);
    const bool shifts = type_ == DType::bfloat16;
    if (shifts) vpsrld(d, a, 16);
    if (wide_) return stored_bytes() == 2 ? vpmovdw(half, shifts ? d : a) : vpmovdb(quarter, a);
    if (!shifts) vpand(d, a, pool(stored_bytes() == 2 ? 0xffff : 0xff));
    vpackusdw(d, d, d);
    if (d.isYMM()) vpermq(Xbyak::Ymm(index(d)), Xbyak::Ymm(index(d)), 8);
    if (stored_bytes() == 1) vpackuswb(Xbyak::Xmm(index(d)), Xbyak::Xmm(index(d)), Xbyak::Xmm(index(d)));
  }
  void store_narrow(const Address& to, int r) {
    switch (lanes() * stored_bytes()) {
      case 4:
        return vmovss(to, Xbyak::Xmm(r));
      case 8:
        return vmovlps(to, Xbyak::Xmm(r));
      case 16:
        return vmovups(to, Xbyak::Xmm(r));
      default:
        return vmovups(to, Xbyak::Ymm(r));
    }
  }
  // Numbers that lie apart, by an area of the stack. The pointer in the slot goes on.
  void load_strided(const Vector& d, int slot, std::size_t strides, int i, int area, bool tail) {
    over_lanes(slot, strides, i, area, tail,
               [&](const Xbyak::Reg& lane, const Address& place) { load_lane(lane, place); });
    load(d, stack(area));
  }
  void store_strided(const Vector& a, int slot, std::size_t strides, int i, int area, bool tail,
                     int scratch) {
    if (is_narrow(type_)) {
      narrow(vec(scratch), a);
      store_narrow(stack(area), scratch);
    } else {
      store(stack(area), a);
    }
    over_lanes(slot, strides, i, area, tail,
               [&](const Xbyak::Reg& lane, const Address& place) { store_lane(lane, place); });
  }
  void load_lane(const Xbyak::Reg& lane, const Address& place) {
    mov(lane, ptr[r9]);
    mov(place, lane);
  }
  void store_lane(const Xbyak::Reg& lane, const Address& place) {
    mov(lane, place);
    mov(ptr[r9], lane);
  }
  template <class F>
  void over_lanes(int slot, std::size_t strides, int i, int area, bool tail, const F& copy) {
    mov(r9, stack(slot));
    mov(r10, ptr[rdi + strides]);
    mov(r10, ptr[r10 + 8 * i]);
    copy_lanes(area, tail, copy);
    if (!tail) mov(stack(slot), r9);
  }
  // From r9 on, r10 bytes apart.
  template <class F>
  void copy_lanes(int area, bool tail, const F& copy) {
    const Xbyak::Reg lane(0, Operand::REG, 8 * stored_bytes());
    if (!tail) {
      for (int k = 0; k < lanes(); ++k) {
        copy(lane, stack(area + k * stored_bytes()));
        add(r9, r10);
      }
      return;
    }
    Label again;
    xor_(r11d, r11d);
    L(again);
    copy(lane, ptr[rsp + r11 * stored_bytes() + area]);
    add(r9, r10);
    inc(r11);
    cmp(r11, r8);
    jl(again, T_NEAR);
  }

  // ---- the loop

  void place(Label& label) { L(label); }
  void place_loop(Label& label) {
    align(64);
    L(label);
  }
  void jump(Label& label) { jmp(label, T_NEAR); }
  void count_packets(Label& tail_part) {
    mov(rdx, ptr[rdi + offsetof(CodeArguments, n)]);
    mov(r8, rdx);
    and_(r8, lanes() - 1);
    sub(rdx, r8);
    xor_(ecx, ecx);
    test(rdx, rdx);
    jz(tail_part, T_NEAR);
  }
  void next_packet(Label& start) {
    add(rcx, lanes());
    cmp(rcx, rdx);
    jl(start, T_NEAR);
  }
  void begin_tail(Label& none) {
    test(r8, r8);
    jz(none, T_NEAR);
    if (wide_) {
      mov(eax, -1);
      bzhi(eax, eax, r8d);
      kmovw(Opmask(1), eax);
    } else {
      lea(rax, ptr[rip + tail_masks_]);
      mov(r9d, lanes());
      sub(r9, r8);
      vmovups(sized(lanes() * (has_wide_ ? 8 : 4), 15), ptr[rax + r9 * (has_wide_ ? 8 : 4)]);
      if (has_wide_ && has_narrow_) {  // 64 bits are two masks of 32
        lea(rax, ptr[rax + 4 * lanes()]);
        vmovups(Xbyak::Xmm(14), ptr[rax + r9 * 4]);
      }
    }
  }

  // ---- calls

  void save_mask(const Address& to, int k) { kmovw(to, Opmask(k)); }
  void load_mask(int k, const Address& from) { kmovw(Opmask(k), from); }
  void save_masks(int area) {
    for (int k = 1; k < 8 && wide_; ++k) save_mask(stack(area + 8 * k), k);
  }
  void load_masks(int area) {
    for (int k = 1; k < 8 && wide_; ++k) load_mask(k, stack(area + 8 * k));
  }
  void store_address(int slot, int area) {
    lea(rax, stack(area));
    mov(stack(slot), rax);
  }
  // Calls a function of lanes; the registers of the loop are kept behind the pointers.
  void call_lanes(const LaneFunction& function, int pointers, int out) {
    const Xbyak::Reg64 kept[] = {rdi, rcx, rdx, r8, rsi};
    for (int k = 0; k < 5; ++k) mov(stack(pointers + 8 * (Step::most_operands + k)), kept[k]);
    vzeroupper();
#if defined(_WIN32)  // other registers, and 32 bytes of the caller's stack
    lea(rcx, stack(pointers));
    lea(rdx, stack(out));
    mov(r8d, lanes());
#else
    lea(rdi, stack(pointers));
    lea(rsi, stack(out));
    mov(edx, lanes());
#endif
    mov(rax, reinterpret_cast<std::size_t>(function.run));
#if defined(_WIN32)
    sub(rsp, 32);
    call(rax);
    add(rsp, 32);
#else
    call(rax);
#endif
    for (int k = 0; k < 5; ++k) mov(kept[k], stack(pointers + 8 * (Step::most_operands + k)));
  }
  void jump_unless_all(int truth, Label& to) {
    if (wide_) {
      lanes() == 16 ? kortestw(Opmask(truth), Opmask(truth)) : kortestb(Opmask(truth), Opmask(truth));
      jnc(to, T_NEAR);
    } else {
      single_ ? vmovmskps(eax, vec(truth)) : vmovmskpd(eax, vec(truth));
      cmp(eax, (1 << lanes()) - 1);
      jne(to, T_NEAR);
    }
  }
};

}  // namespace formula::jit
NAX_END
